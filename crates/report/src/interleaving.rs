//! An execution as a person reads it: one column per thread.

use serde::Serialize;

/// An execution, for people: a row per event, a column per thread.
#[derive(Clone, Default, Debug, Serialize)]
pub struct Interleaving {
    /// Names of the threads, one per column, in the order of their first event.
    pub threads: Vec<String>,
    /// The events in order.
    pub rows: Vec<Row>,
    /// The pairs of events whose order matters: turning one of them round gives another trace.
    pub races: Vec<Racing>,
    /// What each thread does at the end ("waits for mutex m, held by T1"), one per column.
    pub ends: Vec<String>,
}

/// One event.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize)]
pub struct Row {
    /// Index of its thread's column.
    pub thread: usize,
    /// What was done to what, with values: `x.load() -> 3`.
    pub text: String,
    /// Where in the source, as `file:line:column`, if known.
    pub location: Option<String>,
    /// Whether it is the event in which the failure showed.
    pub failed: bool,
}

/// Two rows that race; the first came first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Racing {
    /// Index of the row that came first.
    pub first: usize,
    /// Index of the row that came second.
    pub second: usize,
}
