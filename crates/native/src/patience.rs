//! Measures the time in which a process could have answered: its running time and its idle time.
//! Time spent waiting for a processor does not count. Otherwise a process would seem to hang on a
//! busy machine.

use rustix::process::Pid;
use std::fs;
use std::time::{Duration, Instant};

/// A measurement of the time in which a process could have answered.
#[derive(Debug)]
pub struct Patience {
    process: Pid,
    started: Instant,
    last_check: Instant,
    /// The CPU time of the process at the start.
    before: Duration,
    /// The time in which the process waited for anything other than a processor.
    idle: Duration,
}

impl Patience {
    pub(crate) fn with(process: Pid) -> Patience {
        let now = Instant::now();
        Patience {
            process,
            started: now,
            last_check: now,
            before: activity(process).map_or(Duration::ZERO, |(used, _)| used),
            idle: Duration::ZERO,
        }
    }

    /// Returns the time that the process has had. Must be called often, because it observes only
    /// the state at the time of the call.
    pub fn spent(&mut self) -> Duration {
        let now = Instant::now();
        let since = now - self.last_check;
        self.last_check = now;
        let Some((used, wants_to_run)) = activity(self.process) else {
            return now - self.started;
        };
        if !wants_to_run {
            self.idle += since;
        }
        // The running time of its descendants also counts.
        let others = descendants(self.process).into_iter().filter_map(activity);
        let used = used + others.map(|(used, _)| used).sum::<Duration>();
        let ran = used.saturating_sub(self.before);
        (ran + self.idle).min(now - self.started)
    }

    /// Returns the time since the start.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

/// Returns all descendants of a process.
pub(crate) fn descendants(process: Pid) -> Vec<Pid> {
    let children = |process: &Pid| -> Vec<Pid> {
        let threads = fs::read_dir(format!("/proc/{process}/task"));
        let threads = threads.into_iter().flatten().flatten();
        let lists =
            threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
        let numbers = |list: String| -> Vec<Pid> {
            let words = list.split_whitespace();
            words
                .filter_map(|word| Pid::from_raw(word.parse().ok()?))
                .collect()
        };
        lists.flat_map(numbers).collect()
    };
    let mut found = children(&process);
    let mut next = 0;
    while next < found.len() {
        let more = children(&found[next]);
        found.extend(more);
        next += 1;
    }
    found
}

/// Returns the CPU time of a process, and whether it runs or waits for a processor.
fn activity(process: Pid) -> Option<(Duration, bool)> {
    parsed(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
}

/// Parses `NUMBER (NAME) STATE …`, where fields 14 and 15 are the times in user and system mode.
fn parsed(stat: &str) -> Option<(Duration, bool)> {
    /// The unit of these times, on Linux with x86-64.
    const TICK: Duration = Duration::from_millis(10);
    // The name may contain any character.
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let ticks = |index: usize| fields.get(index)?.parse::<u32>().ok();
    let used = ticks(11)?.checked_add(ticks(12)?)?;
    Some((TICK * used, *fields.first()? == "R"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_and_state_are_read_behind_any_name() {
        let stat = "7 (a) R b) S 1 7 7 0 -1 0 9 0 0 0 12 30 0 0 20 0";
        assert_eq!(parsed(stat), Some((Duration::from_millis(420), false)));
        let runs = stat.replace(") S", ") R");
        assert_eq!(parsed(&runs), Some((Duration::from_millis(420), true)));
        assert_eq!(parsed("7 (a) S 1"), None);
    }

    #[test]
    fn a_process_that_sleeps_uses_up_the_patience() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let mut patience = Patience::with(Pid::from_child(&child));
        while patience.spent() < Duration::from_millis(30) {
            assert!(patience.elapsed() < Duration::from_secs(20));
            std::thread::sleep(Duration::from_millis(5));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
