//! The interactive exploration of executions: a position in an execution, and the next steps from
//! there.

use crate::{FailureKind, Interleaving, Racing, ScheduleFile};
use serde::{Deserialize, Serialize};

/// How to get from the end of a schedule to another position.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Visit {
    /// Two racing rows of the schedule's execution. In the position, the second row has happened
    /// but not the first.
    pub reverse: Option<Racing>,
    /// Whether to run to the end of the execution.
    pub runs_on: bool,
}

/// An execution up to some operation, and the steps that may come next.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Position {
    /// The operations so far.
    pub schedule: ScheduleFile,
    /// The execution so far.
    pub execution: Interleaving,
    /// The row of each operation of the schedule.
    pub rows: Vec<usize>,
    /// The failure, if there is one.
    pub failure: Option<Shortfall>,
    /// Whether no thread can continue.
    pub is_over: bool,
    /// Whether no thread can continue because a thread stopped: at an assumption, at a bound or in
    /// a spin loop without progress.
    pub is_halted: bool,
    /// The threads, one for each column of the execution.
    pub threads: Vec<Standing>,
}

/// A failure of an execution.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Shortfall {
    /// The kind of bug.
    pub kind: FailureKind,
    /// A description for people.
    pub message: String,
    /// The place, as `file:line:column`, if known.
    pub location: Option<String>,
}

/// The position of a thread.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Standing {
    /// Its spawn path, as in [`SavedStep`](crate::SavedStep).
    pub thread: String,
    /// Its possible next steps; empty if it waits, was stopped or has ended.
    pub offers: Vec<Offer>,
}

/// A possible next step of a thread.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Offer {
    /// Its number among the alternatives of the operation.
    pub choice: u32,
    /// The operation, with values: `x.load() -> 3`.
    pub text: String,
    /// The place in the source, as `file:line:column`, if known.
    pub location: Option<String>,
}
