//! The probe of [`explore()`](crate::explore()). It runs the program outside the exploration.

use crate::execution::{Step, ThreadId};
use crate::fingerprint::Fingerprint;
use crate::footprint::Footprint;
use crate::observer::Observer;
use crate::probe::{Probe, Reached};
use crate::program::{Interrupt, Outcome, Program, planned};

/// The probe that [`explore()`](crate::explore()) passes to a strategy.
pub(crate) struct ProbeRuns<'a, P: ?Sized, O: ?Sized> {
    pub(crate) program: &'a mut P,
    pub(crate) observer: &'a mut O,
    /// Whether the program has left the current state of the execution.
    pub(crate) has_run: bool,
}

impl<'a, P: ?Sized, O: ?Sized> ProbeRuns<'a, P, O> {
    /// Returns a probe that has not run the program.
    pub(crate) fn new(program: &'a mut P, observer: &'a mut O) -> ProbeRuns<'a, P, O> {
        ProbeRuns {
            program,
            observer,
            has_run: false,
        }
    }
}

impl<P: Program + ?Sized, O: Observer + ?Sized> Probe for ProbeRuns<'_, P, O> {
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
            let Ok(request) = planned(prefix.len() + at, step, self.program.pending()) else {
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
}

impl<P: Program + ?Sized, O: Observer + ?Sized> ProbeRuns<'_, P, O> {
    fn begin(&mut self, prefix: &[Step]) -> Result<(), Interrupt> {
        self.has_run = true;
        self.program.reset();
        for (at, &step) in prefix.iter().enumerate() {
            planned(at, step, self.program.pending())?;
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
