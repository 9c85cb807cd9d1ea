//! The second seam: who decides what is run next.

use crate::execution::{Execution, Step};
use crate::probe::Probe;
use crate::program::{Divergence, Interrupt, Outcome, Pending, Performed};

/// A strategy learns from so many executions, and no more after them. So the later executions of a part of the search are the same
/// wherever that part is done. These first ones are neither given away nor skipped.
pub const LEARNING: u64 = 128;

/// Decides which execution comes next, one step at a time.
///
/// [`explore`](crate::explore()) calls `backtrack` before each execution, then `extend` and `performed`
/// in turns until `extend` stops, then `analyse`.
pub trait Strategy {
    /// Prepares the next execution; false when there is none. What is left in `execution` is how it
    /// begins: these events are repeated before the first `extend`.
    fn backtrack(&mut self) -> bool;

    /// Whether the last `backtrack` gave up what was explored and begins the search again from the
    /// start, because something that the strategy relied on has turned out not to be so.
    fn has_restarted(&self) -> bool {
        false
    }

    /// Whether the search, as far as is known, comes back to the events that the last `backtrack` left in
    /// `execution`: a hint for programs that can begin in the middle.
    fn returns(&self) -> bool {
        false
    }

    /// The next step of the execution, or why it ends here.
    fn extend(&mut self, pending: &[Pending]) -> Result<Decision, Divergence>;

    /// Takes note of the step that `extend` asked for.
    fn performed(&mut self, performed: &Performed<'_>);

    /// Asks what it needs to know of other schedules; called after `extend` wanted to probe. The
    /// execution then goes on where it was.
    fn probe(&mut self, _probe: &mut dyn Probe) -> Result<(), Interrupt> {
        Ok(())
    }

    /// Learns from the execution that has ended.
    fn analyse(&mut self, outcome: Outcome);

    /// Whether a bound on preemptions has left out executions.
    fn leaves_out(&self) -> bool {
        false
    }

    /// The execution at hand.
    fn execution(&self) -> &Execution;

    /// An estimate of the part of the search that is done, from 0 to 1; none where there is no end.
    fn estimate(&self) -> Option<f64> {
        None
    }

    /// Leaves out the next executions of a search without end, which others run; but none of the first [`LEARNING`].
    fn skip(&mut self, _executions: u64) {}

    /// Gives away the part of the search that would come last. What is left does not have it any more. None if nothing is left
    /// but the next executions, or if the parts of the search depend on each other.
    fn give_away(&mut self) -> Option<Part> {
        None
    }

    /// The state of the search between two executions, from which [`Algorithm::resume`] goes on.
    ///
    /// [`Algorithm::resume`]: crate::Algorithm::resume
    fn save(&self) -> Vec<u8>;
}

/// A part of a search that is a search of its own.
#[derive(Clone, PartialEq, Debug)]
pub struct Part {
    /// From which [`Algorithm::resume`](crate::Algorithm::resume) goes on.
    pub saved: Vec<u8>,
    /// How large it is taken to be, as a part of the whole search that [`Strategy::estimate`] is about.
    pub share: f64,
}

/// What a strategy wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// Perform this step.
    Run(Step),
    /// Run the program beside the exploration, then ask again.
    Probe,
    /// End the execution.
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

    fn save(&self) -> Vec<u8> {
        (**self).save()
    }
}
