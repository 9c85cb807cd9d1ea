//! Where an execution stands that a person chooses step by step.

use crate::{FailureKind, Interleaving, Racing, ScheduleFile};
use serde::{Deserialize, Serialize};

/// How to come to a position, beside the schedule that leads to another one.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Visit {
    /// Two rows of the execution of the schedule, which race: the position is that in which the second one has come without the first.
    pub reverse: Option<Racing>,
    /// Run on to the end of the execution.
    pub runs_on: bool,
}

/// An execution up to some operation, and what may come next.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Position {
    /// The operations so far.
    pub schedule: ScheduleFile,
    /// The execution so far.
    pub execution: Interleaving,
    /// The row of each operation of the schedule.
    pub rows: Vec<usize>,
    /// What went wrong, if something did.
    pub failure: Option<Shortfall>,
    /// Whether no thread can go on.
    pub is_over: bool,
    /// Whether that is because a thread was stopped: at an assumption, at a bound or in a vain loop.
    pub is_halted: bool,
    /// The threads, one for each column of the execution.
    pub threads: Vec<Standing>,
}

/// What went wrong in an execution.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Shortfall {
    /// What kind of bug.
    pub kind: FailureKind,
    /// What happened, for people.
    pub message: String,
    /// Where, as `file:line:column`, if known.
    pub location: Option<String>,
}

/// Where a thread stands.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Standing {
    /// Its spawn path, as in [`SavedStep`](crate::SavedStep).
    pub thread: String,
    /// What it may do next; nothing if it waits, was stopped or has ended.
    pub offers: Vec<Offer>,
}

/// A step that a thread may do next.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Offer {
    /// Its number among the alternatives of the operation.
    pub choice: u32,
    /// What would be done, with values: `x.load() -> 3`.
    pub text: String,
    /// Where in the source, as `file:line:column`, if known.
    pub location: Option<String>,
}
