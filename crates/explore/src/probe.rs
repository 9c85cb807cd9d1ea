//! Runs of the program outside the exploration, to obtain states after other steps.

use crate::execution::{Op, Request, Schedule, Step, ThreadId};
use crate::fingerprint::Fingerprint;
use crate::footprint::Footprint;
use crate::observer::Observer;
use crate::program::{Interrupt, Outcome, Program};
use crate::replay;
use crate::search::Enabled;

/// Runs of the program outside the exploration, for comparing states (Albert et al., CAV 2017).
///
/// These runs do not count as executions. Each is reported to [`Observer::probed`].
pub trait Probe {
    /// Returns the current state of the execution. Needs no run, and must precede any run.
    fn state(&mut self) -> Result<Fingerprint, Interrupt>;

    /// Returns what the thread's next step depends on. Needs no run, and must precede any run.
    fn footprint(&mut self, thread: ThreadId) -> Option<Footprint>;

    /// Returns the state after `prefix` and then `more` from the start of the program, or `None` if
    /// a step of `more` cannot be performed.
    fn state_after(&mut self, prefix: &[Step], more: &[Step])
    -> Result<Option<Reached>, Interrupt>;

    /// Returns the states after `prefix` and after each step of `more`. All of these steps were
    /// performed before.
    fn states_along(
        &mut self,
        prefix: &[Step],
        more: &[Step],
    ) -> Result<Vec<Fingerprint>, Interrupt>;

    /// Returns the operations that the threads other than `without` would perform after `prefix`,
    /// until none of these threads is enabled.
    fn ahead(&mut self, prefix: &[Step], without: ThreadId) -> Result<Vec<Op>, Interrupt>;
}

/// The end of a probe.
#[derive(Clone, Debug)]
pub struct Reached {
    /// The state.
    pub state: Fingerprint,
    /// The request of each step after the prefix, right before the step was performed.
    pub requests: Vec<Request>,
}

/// The probe that [`explore()`](crate::explore()) passes to a strategy.
pub(crate) struct Beside<'a, P: ?Sized, O: ?Sized> {
    pub(crate) program: &'a mut P,
    pub(crate) observer: &'a mut O,
    /// Whether the program has left the current state of the execution.
    pub(crate) has_run: bool,
}

impl<'a, P: ?Sized, O: ?Sized> Beside<'a, P, O> {
    /// Returns a probe that has made no run.
    pub(crate) fn new(program: &'a mut P, observer: &'a mut O) -> Beside<'a, P, O> {
        Beside {
            program,
            observer,
            has_run: false,
        }
    }
}

impl<P: Program + ?Sized, O: Observer + ?Sized> Probe for Beside<'_, P, O> {
    fn state(&mut self) -> Result<Fingerprint, Interrupt> {
        debug_assert!(!self.has_run, "the current state is requested first");
        self.fingerprint()
    }

    fn footprint(&mut self, thread: ThreadId) -> Option<Footprint> {
        debug_assert!(!self.has_run, "the current state is requested first");
        self.program.footprint(thread)
    }

    fn state_after(
        &mut self,
        prefix: &[Step],
        more: &[Step],
    ) -> Result<Option<Reached>, Interrupt> {
        self.begin(prefix)?;
        let mut requests = Vec::with_capacity(more.len());
        for (at, &step) in more.iter().enumerate() {
            let Ok(request) = replay::planned(prefix.len() + at, step, self.program.pending())
            else {
                self.end(prefix, &more[..at]);
                return Ok(None);
            };
            if step.choice >= request.alternatives {
                self.end(prefix, &more[..at]);
                return Ok(None);
            }
            requests.push(*request);
            self.program.step(step)?;
        }
        self.end(prefix, more);
        let state = self.fingerprint()?;
        Ok(Some(Reached { state, requests }))
    }

    fn states_along(
        &mut self,
        prefix: &[Step],
        more: &[Step],
    ) -> Result<Vec<Fingerprint>, Interrupt> {
        self.begin(prefix)?;
        let mut states = vec![self.fingerprint()?];
        for (at, &step) in more.iter().enumerate() {
            replay::planned(prefix.len() + at, step, self.program.pending())?;
            self.program.step(step)?;
            states.push(self.fingerprint()?);
        }
        self.end(prefix, more);
        Ok(states)
    }

    fn ahead(&mut self, prefix: &[Step], without: ThreadId) -> Result<Vec<Op>, Interrupt> {
        self.begin(prefix)?;
        let (mut steps, mut ahead) = (Schedule::new(), Vec::new());
        loop {
            let enabled = Enabled::new(self.program.pending(), None);
            let next = enabled.iter().find(|&(thread, _)| thread != without);
            let Some((thread, _)) = next else { break };
            steps.push(Step::of(thread));
            ahead.push(self.program.step(Step::of(thread))?.op);
        }
        self.end(prefix, &steps);
        Ok(ahead)
    }
}

impl<P: Program + ?Sized, O: Observer + ?Sized> Beside<'_, P, O> {
    fn begin(&mut self, prefix: &[Step]) -> Result<(), Interrupt> {
        self.has_run = true;
        self.program.reset();
        for (at, &step) in prefix.iter().enumerate() {
            replay::planned(at, step, self.program.pending())?;
            self.program.step(step)?;
        }
        Ok(())
    }

    fn fingerprint(&self) -> Result<Fingerprint, Interrupt> {
        self.program.fingerprint().ok_or(Interrupt::Incomparable)
    }

    fn end(&mut self, prefix: &[Step], more: &[Step]) {
        let has_failed = self.program.outcome() == Outcome::Failed;
        self.observer.probed(prefix, more, has_failed);
    }
}
