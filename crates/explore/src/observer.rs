//! The interface of observers of the exploration.

use crate::execution::Step;
use crate::program::Outcome;
use crate::strategy::Strategy;
use std::ops::ControlFlow;

/// Observes the exploration. An observer can stop the exploration, but does not influence it
/// otherwise.
pub trait Observer {
    /// Called after an execution has ended and was analysed.
    fn ended(&mut self, _outcome: Outcome, _strategy: &dyn Strategy) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Called periodically instead of `ended` when several jobs search. Reports the number of
    /// executions and the estimated fraction done, or `None` if there is no estimate.
    fn progressed(&mut self, _executions: u64, _done: Option<f64>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Called after a run of the program outside the exploration. The run has performed the steps
    /// `prefix` and then the steps `more`. `has_failed` is true if a thread exposed a bug in this
    /// run.
    fn probed(&mut self, _prefix: &[Step], _more: &[Step], _has_failed: bool) {}

    /// Called when the exploration starts again. All earlier results are then invalid.
    fn restarted(&mut self) {}
}

/// Observes nothing.
impl Observer for () {}

/// Two observers. Either can stop the exploration.
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
