//! How long a process could have answered: the time that it ran, and the time in which it did not want to run. The time in
//! which it waited for a processor does not count, so that a busy machine does not make it look as if it hangs.

use rustix::process::Pid;
use std::fs;
use std::time::{Duration, Instant};

/// Time that a process had.
#[derive(Debug)]
pub struct Patience {
    process: Pid,
    started: Instant,
    looked: Instant,
    /// CPU time of the process at the start.
    before: Duration,
    /// Time in which it waited for something else than a processor.
    idle: Duration,
}

impl Patience {
    pub(crate) fn with(process: Pid) -> Patience {
        let now = Instant::now();
        Patience {
            process,
            started: now,
            looked: now,
            before: activity(process).map_or(Duration::ZERO, |(used, _)| used),
            idle: Duration::ZERO,
        }
    }

    /// The time that it has had by now. Called often, since what it does in between is not seen.
    pub fn spent(&mut self) -> Duration {
        let now = Instant::now();
        let since = now - self.looked;
        self.looked = now;
        let Some((used, wants_to_run)) = activity(self.process) else {
            return now - self.started;
        };
        if !wants_to_run {
            self.idle += since;
        }
        // What it has started takes time from it.
        let others = descendants(self.process).into_iter().filter_map(activity);
        let used = used + others.map(|(used, _)| used).sum::<Duration>();
        let ran = used.saturating_sub(self.before);
        (ran + self.idle).min(now - self.started)
    }

    /// The time that has passed.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

/// The processes that a process has started, and those that these have started.
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

/// The CPU time of a process, and whether it runs or waits for a processor.
fn activity(process: Pid) -> Option<(Duration, bool)> {
    parsed(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
}

/// `NUMBER (NAME) STATE …`, with the times in user and system mode as fields 14 and 15.
fn parsed(stat: &str) -> Option<(Duration, bool)> {
    /// Of user space, on Linux with x86-64.
    const TICK: Duration = Duration::from_millis(10);
    // A name may contain anything.
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
