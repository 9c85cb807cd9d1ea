//! What all objects have in common.

use explore::{EventId, ThreadId};
use std::fmt::Debug;

/// A synchronization object that the list [`objects!`](crate::objects!) contains.
pub trait Object: Clone + Default {
    /// The parameter of its creation.
    type Size: Copy;

    /// A wait of a thread: usually for a place in the order of the object.
    type Wait: Copy + Debug;

    /// The number of objects that represent it in the exploration.
    const PARTS: u32;

    /// Returns a new object.
    fn new(size: Self::Size) -> Self {
        let mut object = Self::default();
        object.clear(size);
        object
    }

    /// Resets the object for the next execution.
    fn clear(&mut self, size: Self::Size);

    /// Checks whether the wait is over.
    fn is_granted(&self, wait: Self::Wait) -> bool;

    /// Appends the synchronization edges of a wait that is over.
    fn edges(&self, wait: Self::Wait, edges: &mut Vec<EventId>);

    /// Returns the threads that must act so that the wait ends, as far as they are known.
    fn awaited(&self, _wait: Self::Wait) -> Vec<ThreadId> {
        Vec::new()
    }
}
