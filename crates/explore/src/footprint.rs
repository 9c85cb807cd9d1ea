//! The part of the state that a step depends on. A result about the step can be reused in every
//! state with the same part.

use crate::fingerprint::Fingerprint;

/// The part of the state that the next step of a thread depends on and can change.
///
/// Contract: consider consecutive steps from some state. Whether they can be performed in another
/// order, and whether that order leads to the same state, depends only on two kinds of
/// fingerprints: that of each thread right before its steps, and that of each object before the
/// first step that accesses the object.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Footprint {
    /// The state of the thread, and of all threads that continue in the same step.
    pub thread: Fingerprint,
    /// The state of the object that the step accesses, and of all threads that continue when the
    /// object changes.
    pub object: Fingerprint,
    /// Whether independent steps can change the footprint: messages arrive at the thread's process,
    /// or a thread begins to wait for messages at the object. Then the contract holds only for
    /// steps that were performed consecutively.
    pub is_exposed: bool,
}
