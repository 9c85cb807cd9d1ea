//! The wall clock of a search, looked at about every millisecond however short the executions are.

use std::time::{Duration, Instant};

/// Executions between two looks are adapted to take between these.
const OFTEN: Duration = Duration::from_millis(1);
const SELDOM: Duration = Duration::from_millis(5);

/// The wall clock of a search.
pub(crate) struct Stopwatch {
    started: Instant,
    /// What the search took before this process went on with it, in seconds.
    before_s: f64,
    looked: Instant,
    /// Executions between two looks.
    stride: u32,
    /// Executions until the next look.
    left: u32,
}

impl Stopwatch {
    /// Starts after a search that has taken so long already.
    pub fn start(before_s: f64) -> Stopwatch {
        let started = Instant::now();
        Stopwatch {
            started,
            before_s,
            looked: started,
            stride: 1,
            left: 1,
        }
    }

    /// What the search has taken.
    pub fn elapsed_s(&self) -> f64 {
        self.before_s + self.started.elapsed().as_secs_f64()
    }

    /// Asked once for each execution: whether this process has searched for so long.
    pub fn is_over(&mut self, limit: Duration) -> bool {
        self.left -= 1;
        if self.left > 0 {
            return false;
        }
        let now = Instant::now();
        match now - self.looked {
            short if short < OFTEN => self.stride = self.stride.saturating_mul(2),
            long if long > SELDOM => self.stride = (self.stride / 2).max(1),
            _ => {}
        }
        self.looked = now;
        self.left = self.stride;
        now - self.started >= limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_of_nothing_is_over_at_once() {
        assert!(Stopwatch::start(0.0).is_over(Duration::ZERO));
    }

    #[test]
    fn looks_become_rare_where_executions_are_short() {
        let mut stopwatch = Stopwatch::start(3.0);
        for _ in 0..1000 {
            assert!(!stopwatch.is_over(Duration::from_secs(3600)));
        }
        assert!(stopwatch.stride > 4);
        assert!(stopwatch.elapsed_s() >= 3.0);
    }
}
