//! Reports the counts of a running search from time to time.

use explore::{Observer, Outcome, Strategy};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// The number of executions between two readings of the clock.
const EXECUTIONS_PER_CHECK: u64 = 64;

/// Counts the executions of a search and shows the counts at most once per interval.
///
/// ```
/// use report::{Progress, Snapshot};
/// use std::time::Duration;
///
/// let progress = Progress::every(Duration::from_millis(200), |snapshot: &Snapshot| {
///     eprintln!("{}", snapshot.line());
/// });
/// # drop(progress);
/// ```
pub struct Progress<Show> {
    show: Show,
    interval: Duration,
    started: Instant,
    shown: Instant,
    executions: u64,
}

/// The progress of a search.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Snapshot {
    /// The number of executions so far, of every kind.
    pub executions: u64,
    /// The time since the start.
    pub elapsed: Duration,
    /// The estimated part of the search that is done, from 0 to 1, if there is an estimate.
    pub done: Option<f64>,
}

impl<Show: FnMut(&Snapshot)> Progress<Show> {
    /// Shows a snapshot about once per interval.
    pub fn every(interval: Duration, show: Show) -> Progress<Show> {
        let now = Instant::now();
        Progress {
            show,
            interval,
            started: now,
            shown: now,
            executions: 0,
        }
    }

    /// Shows a snapshot if the interval has passed.
    fn show_if_due(&mut self, done: impl FnOnce() -> Option<f64>) {
        let now = Instant::now();
        if now.duration_since(self.shown) >= self.interval {
            self.shown = now;
            (self.show)(&Snapshot {
                executions: self.executions,
                elapsed: now.duration_since(self.started),
                done: done(),
            });
        }
    }
}

impl<Show: FnMut(&Snapshot)> Observer for Progress<Show> {
    fn ended(&mut self, _outcome: Outcome, strategy: &dyn Strategy) -> ControlFlow<()> {
        self.executions += 1;
        if self.executions.is_multiple_of(EXECUTIONS_PER_CHECK) {
            self.show_if_due(|| strategy.estimate());
        }
        ControlFlow::Continue(())
    }

    fn progressed(&mut self, executions: u64, done: Option<f64>) -> ControlFlow<()> {
        self.executions = executions;
        self.show_if_due(|| done);
        ControlFlow::Continue(())
    }

    fn restarted(&mut self) {
        self.executions = 0;
        self.started = Instant::now();
    }
}

impl Snapshot {
    /// Returns the executions per second.
    pub fn rate(&self) -> f64 {
        match self.elapsed.as_secs_f64() {
            seconds if seconds > 0.0 => self.executions as f64 / seconds,
            _ => 0.0,
        }
    }

    /// Returns the time that is left according to the estimate.
    pub fn left(&self) -> Option<Duration> {
        let done = self.done.filter(|&done| done > 0.0 && done <= 1.0)?;
        Duration::try_from_secs_f64(self.elapsed.as_secs_f64() * (1.0 - done) / done).ok()
    }

    /// Formats a line: `12,800 executions, 310,000 per second, about 43 % explored, 1 s left`.
    pub fn line(&self) -> String {
        use crate::quantity::{count, counted, duration};
        let mut line = format!(
            "{}, {} per second",
            counted(self.executions, "execution"),
            count(self.rate() as u64)
        );
        if let (Some(done), Some(left)) = (self.done, self.left()) {
            let percent = done * 100.0;
            let left = match left.as_secs_f64() {
                seconds if seconds < 60.0 => format!("{seconds:.0} s"),
                seconds => duration(seconds),
            };
            line.push_str(&format!(", about {percent:.0} % explored, {left} left"));
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remaining_time_follows_from_the_completed_share() {
        let snapshot = Snapshot {
            executions: 3_000,
            elapsed: Duration::from_secs(3),
            done: Some(0.75),
        };
        assert_eq!(snapshot.left(), Some(Duration::from_secs(1)));
        assert_eq!(
            snapshot.line(),
            "3,000 executions, 1,000 per second, about 75 % explored, 1 s left"
        );
    }

    #[test]
    fn without_an_estimate_nothing_is_promised() {
        for done in [None, Some(0.0), Some(f64::NAN)] {
            let snapshot = Snapshot {
                executions: 1,
                elapsed: Duration::ZERO,
                done,
            };
            assert_eq!(snapshot.line(), "1 execution, 0 per second");
        }
    }
}
