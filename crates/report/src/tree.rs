//! The tree of a search: where each execution leaves the one before.

use serde::{Deserialize, Serialize};

/// The first executions of a search. Each one begins as the one before, up to some event.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Tree {
    /// The executions, in the order in which one job runs them.
    pub branches: Vec<Branch>,
    /// Whether these are all.
    pub is_whole: bool,
    /// The lines of a program in C or C++ to which none of them came, as `file:line`: lines with calls, shared memory or functions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreached: Vec<String>,
}

/// An execution in the tree.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Branch {
    /// Events that it has in common with the one before.
    pub kept: usize,
    /// All its events.
    pub events: usize,
    /// The thread that goes on from there.
    pub thread: String,
    /// How it ended.
    pub end: End,
}

/// How an execution in the tree ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// Every thread ran to its end.
    Complete,
    /// It shows a bug.
    Bug,
    /// A thread stopped at an assumption or a bound.
    Halted,
    /// It was cut since it was redundant.
    Redundant,
}
