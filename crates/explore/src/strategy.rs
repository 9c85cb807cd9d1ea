//! The interface of search strategies, which choose the next step.

use crate::execution::Performed;
use crate::execution::{EventId, Execution, ObjectId, Step};
use crate::probe::Probe;
use crate::program::{Divergence, Interrupt, Outcome, Pending};

/// The number of executions from which a strategy learns how to order its search, for example on
/// which objects threads race. Later executions do not change what it has learned. So a part of the
/// search has the same executions wherever it is searched. The executions from which a strategy
/// learns are neither given away nor skipped.
pub const LEARNING: u64 = 128;

/// Decides which execution comes next, one step at a time.
///
/// [`explore`](crate::explore()) calls `backtrack` before each execution, then `extend` and
/// `performed` in turn until `extend` stops, then `analyse`. If `extend` returns
/// [`Decision::Probe`], `probe` is called instead of `performed`.
pub trait Strategy {
    /// Prepares the next execution. Returns false if there is none. The next execution begins with
    /// the events left in `execution`, which are repeated before the first `extend`.
    fn backtrack(&mut self) -> bool;

    /// Checks whether the last `backtrack` discarded the search and started again. This happens in
    /// two cases: an assumption of the strategy turned out to be wrong, or a bound on preemptions
    /// has grown.
    fn has_restarted(&self) -> bool {
        false
    }

    /// Checks whether the search, as far as known, will return to the events that the last
    /// `backtrack` left in `execution`. This is a hint for programs that can restore an earlier
    /// state.
    fn returns(&self) -> bool {
        false
    }

    /// Returns the next step of the execution, or the reason why the execution ends here.
    fn extend(&mut self, pending: &[Pending]) -> Result<Decision, Divergence>;

    /// Records the step that `extend` returned.
    fn performed(&mut self, performed: &Performed<'_>);

    /// Runs other schedules outside the exploration, to compare states. Called after `extend`
    /// returned [`Decision::Probe`]. The execution then continues from the same point.
    fn probe(&mut self, _probe: &mut dyn Probe) -> Result<(), Interrupt> {
        Ok(())
    }

    /// Learns from the execution that has ended.
    fn analyse(&mut self, outcome: Outcome);

    /// Checks whether a bound on preemptions has excluded executions so far.
    fn leaves_out(&self) -> bool {
        false
    }

    /// Returns the current execution.
    fn execution(&self) -> &Execution;

    /// Checks whether the data of a search that was read from a file fits together.
    fn is_consistent(&self) -> bool {
        !self.execution().is_weak() && self.execution().is_consistent()
    }

    /// Estimates how much of the search is done, from 0 to 1. Returns `None` if there is no
    /// estimate, for example for an endless search.
    fn estimate(&self) -> Option<f64> {
        None
    }

    /// Skips this number of executions of an endless search, because other jobs run them. The
    /// caller must not skip the first [`LEARNING`] executions.
    fn skip(&mut self, _executions: u64) {}

    /// Splits off and returns the part of the search that would come last. Returns `None` if
    /// nothing can be split off, or if the search cannot be divided.
    fn give_away(&mut self) -> Option<Part> {
        None
    }

    /// Returns the writes of the object in coherence order (the order in which all threads observe
    /// them), if the strategy chooses this order. Otherwise it is the order of the execution, and
    /// the result is empty.
    fn coherence(&self, _object: ObjectId) -> Vec<EventId> {
        Vec::new()
    }

    /// Saves the state of the search between two executions, for [`Algorithm::resume`].
    ///
    /// [`Algorithm::resume`]: crate::Algorithm::resume
    fn save(&self) -> Vec<u8>;
}

/// A part of a search that can be searched separately.
#[derive(Clone, PartialEq, Debug)]
pub struct Part {
    /// The saved search, for [`Algorithm::resume`](crate::Algorithm::resume).
    pub saved: Vec<u8>,
    /// The estimated size, as a fraction of the search that [`Strategy::estimate`] covers.
    pub share: f64,
}

/// The decision of a strategy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// Performs this step.
    Run(Step),
    /// Runs the program outside the exploration. Then `extend` is called again.
    Probe,
    /// Ends the execution.
    Stop(Ending),
}

/// Why a strategy ends an execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// No thread is enabled.
    Maximal,
    /// Every enabled thread is asleep.
    Blocked,
}

impl<S: Strategy + ?Sized> Strategy for Box<S> {
    fn backtrack(&mut self) -> bool {
        (**self).backtrack()
    }

    fn has_restarted(&self) -> bool {
        (**self).has_restarted()
    }

    fn returns(&self) -> bool {
        (**self).returns()
    }

    fn is_consistent(&self) -> bool {
        (**self).is_consistent()
    }

    fn extend(&mut self, pending: &[Pending]) -> Result<Decision, Divergence> {
        (**self).extend(pending)
    }

    fn performed(&mut self, performed: &Performed<'_>) {
        (**self).performed(performed);
    }

    fn probe(&mut self, probe: &mut dyn Probe) -> Result<(), Interrupt> {
        (**self).probe(probe)
    }

    fn analyse(&mut self, outcome: Outcome) {
        (**self).analyse(outcome);
    }

    fn leaves_out(&self) -> bool {
        (**self).leaves_out()
    }

    fn execution(&self) -> &Execution {
        (**self).execution()
    }

    fn estimate(&self) -> Option<f64> {
        (**self).estimate()
    }

    fn skip(&mut self, executions: u64) {
        (**self).skip(executions);
    }

    fn give_away(&mut self) -> Option<Part> {
        (**self).give_away()
    }

    fn coherence(&self, object: ObjectId) -> Vec<EventId> {
        (**self).coherence(object)
    }

    fn save(&self) -> Vec<u8> {
        (**self).save()
    }
}
