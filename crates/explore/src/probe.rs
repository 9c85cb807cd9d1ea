//! Runs of the program outside the exploration, to obtain states after other steps.

use crate::execution::{Request, Step, ThreadId};
use crate::fingerprint::Fingerprint;
use crate::footprint::Footprint;
use crate::program::Interrupt;

/// Runs of the program outside the exploration, for comparing states (Albert et al., CAV 2017).
///
/// These runs do not count as executions. Each is reported to
/// [`Observer::probed`](crate::Observer::probed).
pub trait Probe {
    /// Returns the current state of the execution. This requires no run, and must be called before
    /// any run.
    fn state(&mut self) -> Result<Fingerprint, Interrupt>;

    /// Returns what the thread's next step depends on and can change, or `None` if this is unknown.
    /// This requires no run, and must be called before any run.
    fn footprint(&mut self, thread: ThreadId) -> Option<Footprint>;

    /// Returns the state after `prefix` and then `more` from the start of the program, or `None` if
    /// a step of `more` cannot be performed.
    fn state_after(&mut self, prefix: &[Step], more: &[Step])
    -> Result<Option<Reached>, Interrupt>;
}

/// The state that a probe has reached.
#[derive(Clone, Debug)]
pub struct Reached {
    /// The state.
    pub state: Fingerprint,
    /// The request of each step after the prefix, right before the step was performed.
    pub requests: Vec<Request>,
}
