//! Dependencies of single steps, so that results about steps can be reused where the steps recur.

use crate::fingerprint::Fingerprint;

/// The state that the next step of a thread depends on and can change.
///
/// Contract, for consecutive steps from some state: whether the steps can be performed in another
/// order, and whether that order leads to the same state, depends only on the footprint of each
/// thread right before its steps and on that of each object before the first step that accesses it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Footprint {
    /// The thread, with all threads that continue in the same step.
    pub thread: Fingerprint,
    /// The object that the step accesses, with all threads that continue when the object changes.
    pub object: Fingerprint,
    /// Whether independent steps can change these dependencies: messages arrive at the thread's
    /// process, or a thread begins to wait for messages at the object. Then the contract holds only
    /// for steps that were performed consecutively.
    pub is_exposed: bool,
}
