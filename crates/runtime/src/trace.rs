//! An execution, recorded for people.

use explore::Outcome;
use report::{FailureKind, Interleaving};

/// What went wrong, for people.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shown {
    /// What kind of bug.
    pub kind: FailureKind,
    /// What happened: the panic's message, who waits for whom, which accesses race.
    pub message: String,
    /// Where, as `file:line:column`, if known.
    pub location: Option<String>,
}

/// A recorded execution.
#[derive(Clone, Debug)]
pub struct Trace {
    /// How it ended.
    pub outcome: Outcome,
    /// What went wrong, if the outcome is a bug.
    pub failure: Option<Shown>,
    /// The events, with the races among them.
    pub interleaving: Interleaving,
}
