//! What one step depends on, so that what was found out about some steps once holds wherever they are
//! performed again.

use crate::fingerprint::Fingerprint;

/// What the next step of a thread depends on, and what it can change.
///
/// Contract, for steps in a row from some state: whether another order of them is possible, and whether it
/// leads to the same state, depends on nothing but the footprint of each thread right before its steps and
/// on that of each object before the first step that accesses it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Footprint {
    /// The thread, with all that goes on together with it.
    pub thread: Fingerprint,
    /// The object that the step accesses, with all that goes on when it changes.
    pub object: Fingerprint,
    /// Whether steps that are independent of this one can change what it depends on: letters come in at the
    /// process of the thread, or somebody begins to wait for those that come in at the object. Then the contract
    /// holds only for steps that were performed in a row.
    pub is_exposed: bool,
}
