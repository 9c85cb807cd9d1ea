//! Why a search starts again.

use serde::{Deserialize, Serialize};

/// A fact about the program that contradicts an assumption of the search. When an execution shows it,
/// the search starts again without this assumption.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Restart {
    /// A loop has a hint, so the stacks of threads are compared there.
    Hint,
    /// A thread returns to a place that reads memory, so its states there are compared.
    Loop,
    /// A thread repeats an operation, so its stack is compared. From now on, hooks wipe what they
    /// leave on the stack.
    WipedStacks,
    /// Stacks are compared at a greater depth than savepoints have restored.
    DeepStacks,
    /// A failed try may depend on rounds of `std::lock` that were left out.
    LockRounds,
    /// Threads share plain memory, so data races are searched for.
    PlainMemory,
    /// Threads share memory that executions so far did not watch.
    SharedMemory,
    /// Whether accesses race depends on the order of atomic accesses.
    AtomicOrder,
    /// More operations of an object depend on each other than assumed.
    CoarseObject,
    /// Several objects are accessed as one.
    MergedObjects,
    /// Accesses of memory overlap.
    OverlappingAccesses,
    /// Threads share memory that is accessed with an ordering weaker than `SeqCst`.
    WeakOrdering,
    /// The first execution differs from its repetition.
    FirstExecution,
}
