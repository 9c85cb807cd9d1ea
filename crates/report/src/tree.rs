//! The tree of a search, which shows where each execution branches off from the previous execution.

use serde::{Deserialize, Serialize};

/// The first executions of a search. Up to some event, each execution is the same as the previous
/// one.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Tree {
    /// The executions, in the order in which a single job runs them.
    pub branches: Vec<Branch>,
    /// Whether these are all executions.
    pub is_whole: bool,
    /// For a program in C or C++, lines that no execution reached, as `file:line`. Only lines with
    /// calls, shared memory or functions are listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreached: Vec<String>,
}

/// An execution in the tree.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Branch {
    /// The number of events that it shares with the previous execution.
    pub kept: usize,
    /// The number of all its events.
    pub events: usize,
    /// The thread that runs next after the shared events.
    pub thread: String,
    /// How it ended.
    pub end: End,
}

/// How an execution in the tree ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// Every thread ran to completion.
    Complete,
    /// The execution shows a bug.
    Bug,
    /// A thread stopped at an assumption, at a bound, or in a spin loop that a write by another
    /// thread could end.
    Halted,
    /// The execution was cut because it is redundant.
    Redundant,
}
