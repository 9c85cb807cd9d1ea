//! The branches that the search still has to explore.

use super::events::{At, Edges, Graph, Node, Operation};
use super::revisit::Cut;
use crate::execution::{Tail, ThreadId, ValueId};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// Positions in coherence order.
pub(super) type Positions = SmallVec<[usize; 4]>;

/// A step that is added to the graph.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Added {
    pub(super) thread: ThreadId,
    pub(super) choice: u32,
    /// The write that the step reads from. `None` stands for the initial value, or for a step that
    /// reads nothing.
    pub(super) rf: Option<At>,
    /// For a store, the position in coherence order after which the store is placed.
    pub(super) position: usize,
    /// For a revisited read, the stamp that it keeps (see `Node::stamp`). `None` gives the events
    /// of the step new stamps.
    pub(super) stamp: Option<u64>,
    /// Whether the search also explores other places and backward revisits of the step's write.
    pub(super) opens: bool,
}

impl Added {
    pub(super) fn by(thread: ThreadId) -> Added {
        Added {
            thread,
            choice: 0,
            rf: None,
            position: 0,
            stamp: None,
            opens: true,
        }
    }
}

/// What is left to explore at a point of the execution.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Frame {
    /// The number of steps before the point.
    pub(super) steps: usize,
    /// The number of branches that have been explored.
    pub(super) done: u32,
    pub(super) left: Left,
}

impl Frame {
    /// If the frame is a revisit, returns the number of steps that the revisit kept, and what it
    /// removed.
    pub(super) fn revisit(&self) -> Option<(usize, &Removed)> {
        match &self.left {
            Left::Revisit { removed, .. } => Some((self.steps, removed)),
            _ => None,
        }
    }

    /// Checks whether the events that the frame adds belong to threads and objects below these
    /// numbers.
    pub(super) fn fits(&self, threads: usize, objects: usize) -> bool {
        let is_there = |thread: ThreadId, operation: &Operation| {
            thread.index() < threads && operation.object.index() < objects
        };
        match &self.left {
            Left::Sources {
                operation, thread, ..
            } => is_there(*thread, operation),
            Left::Choices { thread, .. } => thread.index() < threads,
            Left::Write { write, .. } => is_there(write.thread, &write.operation),
            Left::Revisit {
                write, read, node, ..
            } => is_there(write.thread, &write.operation) && is_there(read.thread, &node.operation),
        }
    }

    /// Returns a frame whose first branch is current.
    pub(super) fn new(steps: usize, left: Left) -> Frame {
        Frame {
            steps,
            done: 0,
            left,
        }
    }
}

/// The branches that a frame leaves to explore.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Left {
    /// Sources of a read: positions in coherence order, the next one last.
    Sources {
        operation: Operation,
        thread: ThreadId,
        after: Edges,
        positions: Positions,
    },
    /// Alternatives of a choice.
    Choices {
        thread: ThreadId,
        next: u32,
        alternatives: u32,
    },
    /// Places of a write and then the reads that it may revisit. The next ones come last. `reads`
    /// is `None` until all places were explored.
    Write {
        write: Written,
        positions: Positions,
        reads: Option<SmallVec<[At; 4]>>,
    },
    /// A backward revisit of a read: the places in coherence order that the write still has to
    /// take. `node` is the read before the revisit. `removed` is restored when all have been
    /// explored.
    Revisit {
        write: Written,
        read: At,
        node: Box<Node>,
        positions: Positions,
        /// The place of the write in the current graph.
        position: Option<usize>,
        /// The number of alternatives of the write's operation that this frame explores. If the
        /// write has no rival, it is 1, because an earlier frame has performed the operation
        /// already and explores its alternatives.
        alternatives: u32,
        removed: Box<Removed>,
    },
}

/// The events that a backward revisit has removed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Removed {
    pub(super) cut: Cut,
    /// The execution before the revisit, from the first removed step on.
    pub(super) tail: Tail,
}

/// A write that is added as the last event of a graph.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Written {
    pub(super) operation: Operation,
    pub(super) thread: ThreadId,
    pub(super) after: Edges,
    pub(super) rf: Option<At>,
    pub(super) choice: u32,
    pub(super) alternatives: u32,
    pub(super) value: ValueId,
    /// Whether another read-modify-write has read from the same write. Then the code after the
    /// operation must not run.
    pub(super) has_rival: bool,
}

impl Written {
    /// Checks whether the next alternative of the write's operation is explored after this one.
    pub(super) fn has_next_alternative(&self) -> bool {
        !self.has_rival && self.choice + 1 < self.alternatives
    }

    /// Returns the step with the next alternative of the write's operation, if there is one.
    pub(super) fn next_alternative(&self, graph: &Graph) -> Option<Added> {
        self.has_next_alternative().then(|| Added {
            choice: self.choice + 1,
            rf: self.rf,
            position: graph.object(self.operation.object).co.len(),
            ..Added::by(self.thread)
        })
    }
}
