//! The reasons why a search starts again.

use serde::{Deserialize, Serialize};

/// A fact about the program that contradicts an assumption of the search. When an execution reveals
/// the fact, the search starts again without the assumption.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Restart {
    /// A spin loop calls a hint, so the stacks of threads must be compared there.
    Hint,
    /// A thread returns to a place that reads memory. The place may be in a loop, so the thread's
    /// states there must be compared.
    Loop,
    /// The stack of a thread must be compared, so hooks must wipe the values that they leave on it.
    WipedStacks,
    /// Stacks must be compared to a greater depth than savepoints have restored so far.
    DeepStacks,
    /// A failed try (such as `try_lock`) may depend on rounds of `std::lock` that the search left
    /// out.
    LockRounds,
    /// Threads share plain memory, so the search must look for data races.
    PlainMemory,
    /// Threads share memory that the search has not watched so far.
    SharedMemory,
    /// Atomic accesses may order accesses that would otherwise race, so the orders that atomic
    /// accesses establish must be tracked.
    AtomicOrder,
    /// More operations of an object depend on each other than the search assumed.
    CoarseObject,
    /// Operations use several objects together, so these must count as one object.
    MergedObjects,
    /// Accesses overlap, so their memory must count as one object.
    OverlappingAccesses,
    /// Threads share memory that is accessed with an ordering weaker than `SeqCst`, so the search
    /// needs another memory model.
    WeakOrdering,
    /// The first execution differs from its repetition.
    FirstExecution,
}
