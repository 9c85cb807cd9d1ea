//! What stops a search from outside, a limit of time or a flag: looked at about every millisecond, however
//! short the executions are, and in the middle of long ones.

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

/// Steps between two looks are adapted to take between these.
const OFTEN: Duration = Duration::from_millis(1);
const SELDOM: Duration = Duration::from_millis(5);

/// Steps between two looks are never more: they may become slow.
const FARTHEST: u32 = 1024;

/// The wall clock of a search, its limit, and the flags that stop it.
pub(super) struct Brake {
    limit: Option<Duration>,
    stops: Vec<Arc<AtomicBool>>,
    started: Instant,
    /// What the search took before this process went on with it, in seconds.
    before_s: f64,
    looked: Instant,
    /// Steps between two looks.
    stride: u32,
    /// Steps until the next look.
    left: u32,
    /// Why the search is to stop.
    pulled: Option<Limit>,
}

impl Brake {
    /// Of a search that has taken `before_s` seconds already, which the limit does not count.
    pub fn new(limit: Option<Duration>, stops: Vec<Arc<AtomicBool>>, before_s: f64) -> Brake {
        let started = Instant::now();
        Brake {
            limit,
            stops,
            started,
            before_s,
            looked: started,
            stride: 1,
            left: 1,
            pulled: None,
        }
    }

    /// One that nothing pulls.
    pub fn none() -> Brake {
        Brake::new(None, Vec::new(), 0.0)
    }

    /// What the search has taken, in seconds.
    pub fn elapsed_s(&self) -> f64 {
        self.before_s + self.started.elapsed().as_secs_f64()
    }

    /// Asked before each execution: why the search is to stop.
    pub fn pulled(&mut self) -> Option<Limit> {
        self.stops();
        self.pulled
    }

    /// Asked before each step: whether the search is to stop.
    #[inline(always)]
    fn stops(&mut self) -> bool {
        self.left -= 1;
        self.left == 0 && self.look()
    }

    /// Looks at the clock and the flag.
    #[cold]
    #[inline(never)]
    fn look(&mut self) -> bool {
        let now = Instant::now();
        match now - self.looked {
            short if short < OFTEN => self.stride = (self.stride * 2).min(FARTHEST),
            long if long > SELDOM => self.stride = (self.stride / 2).max(1),
            _ => {}
        }
        self.looked = now;
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

/// A model that refuses the next step when the brake is pulled.
pub(super) struct Braked<'s> {
    pub model: &'s mut Model,
    pub brake: &'s mut Brake,
    /// Where each step is written down before it is performed.
    pub trail: Option<&'s mut Trail>,
    /// What was looked at before, if this execution may be looked at.
    pub covered: Option<&'s Covered>,
    /// How many events the execution has in common with the one before.
    pub kept: Option<usize>,
    /// Whether the execution is looked at.
    pub looks: bool,
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
            self.looks = self.covered.is_some_and(|covered| covered.looks(execution));
            if self.looks {
                self.model.begin_look();
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
