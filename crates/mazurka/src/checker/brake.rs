//! Stops a search on a time limit or a flag. Both are checked every few milliseconds: between
//! executions, however short, and in the middle of long ones.

use super::coverage::Covered;
use explore::{
    Execution, Fingerprint, Footprint, Interrupt, Outcome, Pending, Performed, Program, Step,
    ThreadId,
};
use report::{Limit, Trail};
use runtime::Model;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The number of steps between two checks is adapted so that the time between them stays in this
/// range.
const OFTEN: Duration = Duration::from_millis(1);
const SELDOM: Duration = Duration::from_millis(5);

/// The maximum number of steps between two checks, because steps may become slow.
const FARTHEST: u32 = 1024;

/// The wall clock of a search, its limit, and the flags that stop it.
pub(super) struct Brake {
    limit: Option<Duration>,
    stops: Vec<Arc<AtomicBool>>,
    started: Instant,
    /// Seconds that the search took before this process resumed it.
    before_s: f64,
    /// The time of the last check.
    last_check: Instant,
    /// Steps between two checks.
    stride: u32,
    /// Steps until the next check.
    left: u32,
    /// The reason to stop the search, if there is one.
    pulled: Option<Limit>,
}

impl Brake {
    /// Creates the brake of a search that already took `before_s` seconds, which do not count for
    /// the limit.
    pub fn new(limit: Option<Duration>, stops: Vec<Arc<AtomicBool>>, before_s: f64) -> Brake {
        let started = Instant::now();
        Brake {
            limit,
            stops,
            started,
            before_s,
            last_check: started,
            stride: 1,
            left: 1,
            pulled: None,
        }
    }

    /// Creates a brake that never stops a search.
    pub fn none() -> Brake {
        Brake::new(None, Vec::new(), 0.0)
    }

    /// Returns the duration of the search, in seconds.
    pub fn elapsed_s(&self) -> f64 {
        self.before_s + self.started.elapsed().as_secs_f64()
    }

    /// Returns the reason to stop the search, if there is one. Called before each execution.
    pub fn pulled(&mut self) -> Option<Limit> {
        self.stops();
        self.pulled
    }

    /// Returns whether the search must stop. Called before each step, but only every `stride`-th
    /// call checks; the others return false.
    #[inline(always)]
    fn stops(&mut self) -> bool {
        self.left -= 1;
        self.left == 0 && self.check()
    }

    /// Checks the clock and the flags. Returns whether the search must stop, and keeps the reason.
    #[cold]
    #[inline(never)]
    fn check(&mut self) -> bool {
        let now = Instant::now();
        match now - self.last_check {
            short if short < OFTEN => self.stride = (self.stride * 2).min(FARTHEST),
            long if long > SELDOM => self.stride = (self.stride / 2).max(1),
            _ => {}
        }
        self.last_check = now;
        self.left = self.stride;
        let is_stopped = self.stops.iter().any(|stop| stop.load(Relaxed));
        let is_late = self.limit.is_some_and(|limit| now - self.started >= limit);
        self.pulled = match (is_stopped, is_late) {
            (true, _) => Some(Limit::Interrupted),
            (false, true) => Some(Limit::Time),
            (false, false) => None,
        };
        self.pulled.is_some()
    }
}

/// A model that refuses the next step when the search must stop.
pub(super) struct Braked<'s> {
    pub model: &'s mut Model,
    pub brake: &'s mut Brake,
    /// The memory shared with another process. Each step is recorded there before it is performed.
    pub trail: Option<&'s mut Trail>,
    /// The coverage so far, if this execution may be sampled for it.
    pub covered: Option<&'s Covered>,
    /// The number of events that the execution shares with the previous one; `None` until these
    /// events have been repeated.
    pub kept: Option<usize>,
    /// Whether the execution is sampled for the coverage.
    pub is_sampled: bool,
}

impl Program for Braked<'_> {
    fn reset(&mut self) {
        self.model.reset();
    }

    #[inline(always)]
    fn pending(&self) -> &[Pending] {
        self.model.pending()
    }

    #[inline(always)]
    fn step(&mut self, step: Step) -> Result<Performed<'_>, Interrupt> {
        if self.brake.stops() {
            return Err(Interrupt::Stopped);
        }
        if let Some(trail) = &mut self.trail {
            let names = self.model.names();
            let path = |thread| names.spawn_path(ThreadId::from_index(thread));
            trail.step(step.thread.index(), step.choice, path);
        }
        self.model.step(step)
    }

    fn repeat(&mut self, execution: &Execution, returns: bool) -> Result<(), Interrupt> {
        if self.brake.stops() {
            return Err(Interrupt::Stopped);
        }
        if self.kept.is_none() {
            self.kept = Some(execution.len());
            self.is_sampled = self
                .covered
                .is_some_and(|covered| covered.samples(execution));
            if self.is_sampled {
                self.model.begin_sampling();
            }
        }
        if let Some(trail) = &mut self.trail {
            let names = self.model.names();
            let path = |thread| names.spawn_path(ThreadId::from_index(thread));
            let steps = execution.steps();
            trail.repeat(steps.map(|step| (step.thread.index(), step.choice)), path);
        }
        self.model.repeat(execution, returns)
    }

    fn outcome(&self) -> Outcome {
        self.model.outcome()
    }

    fn twin(&self, thread: ThreadId) -> Option<ThreadId> {
        self.model.twin(thread)
    }

    fn fingerprint(&self) -> Option<Fingerprint> {
        self.model.fingerprint()
    }

    fn footprint(&self, thread: ThreadId) -> Option<Footprint> {
        self.model.footprint(thread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_of_nothing_is_over_at_once() {
        let mut brake = Brake::new(Some(Duration::ZERO), Vec::new(), 0.0);
        assert_eq!(brake.pulled(), Some(Limit::Time));
    }

    #[test]
    fn a_flag_is_seen_after_a_thousand_steps_at_most() {
        let stop = Arc::new(AtomicBool::new(false));
        let limit = Some(Duration::from_secs(3600));
        let mut brake = Brake::new(limit, vec![Arc::clone(&stop)], 3.0);
        for _ in 0..100_000 {
            assert_eq!(brake.pulled(), None);
        }
        assert!(brake.stride > 4, "looks become rare where steps are short");
        stop.store(true, Relaxed);
        let seen = (0..1024).find_map(|_| brake.pulled());
        assert_eq!(seen, Some(Limit::Interrupted));
        assert!(brake.elapsed_s() >= 3.0);
    }
}
