//! The third seam: who watches.

use crate::execution::Step;
use crate::program::Outcome;
use crate::strategy::Strategy;
use std::ops::ControlFlow;

/// Watches the exploration; may stop it, never steers it.
pub trait Observer {
    /// An execution has ended and was analysed.
    fn ended(&mut self, _outcome: Outcome, _strategy: &dyn Strategy) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Several jobs search, and have come so far: so many executions, and the estimated part of the search that is done. Asked now and
    /// then, instead of `ended`.
    fn progressed(&mut self, _executions: u64, _done: Option<f64>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// The program was run beside the exploration for its state after `prefix` and `more`, or after
    /// those of these steps that can be performed. `has_failed`: a thread showed a bug there.
    fn probed(&mut self, _prefix: &[Step], _more: &[Step], _has_failed: bool) {}

    /// The exploration starts again: forget everything.
    fn restarted(&mut self) {}
}

/// Watches nothing.
impl Observer for () {}

/// Two observers; the exploration stops when one of them wants it.
impl<A: Observer, B: Observer> Observer for (A, B) {
    fn ended(&mut self, outcome: Outcome, strategy: &dyn Strategy) -> ControlFlow<()> {
        let first = self.0.ended(outcome, strategy);
        let second = self.1.ended(outcome, strategy);
        first?;
        second
    }

    fn progressed(&mut self, executions: u64, done: Option<f64>) -> ControlFlow<()> {
        let first = self.0.progressed(executions, done);
        let second = self.1.progressed(executions, done);
        first?;
        second
    }

    fn probed(&mut self, prefix: &[Step], more: &[Step], has_failed: bool) {
        self.0.probed(prefix, more, has_failed);
        self.1.probed(prefix, more, has_failed);
    }

    fn restarted(&mut self) {
        self.0.restarted();
        self.1.restarted();
    }
}

impl<O: Observer + ?Sized> Observer for &mut O {
    fn ended(&mut self, outcome: Outcome, strategy: &dyn Strategy) -> ControlFlow<()> {
        (**self).ended(outcome, strategy)
    }

    fn progressed(&mut self, executions: u64, done: Option<f64>) -> ControlFlow<()> {
        (**self).progressed(executions, done)
    }

    fn probed(&mut self, prefix: &[Step], more: &[Step], has_failed: bool) {
        (**self).probed(prefix, more, has_failed);
    }

    fn restarted(&mut self) {
        (**self).restarted();
    }
}
