//! The trait that all objects implement.

use explore::{EventId, ThreadId};
use std::fmt::Debug;

/// A synchronization object that the list [`objects!`](crate::objects!) contains.
pub trait Object: Clone + Default {
    /// The parameter with which an object is created.
    type Size: Copy;

    /// What a thread can wait for: usually a place in the order of the object.
    type Wait: Copy + Debug;

    /// The number of parts of the object. In the exploration, each part is an object with its own
    /// id.
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

    /// Appends to `edges` the events from which synchronization edges lead to a wait that is over.
    fn edges(&self, wait: Self::Wait, edges: &mut Vec<EventId>);

    /// Returns the threads that must act so that the wait ends, as far as they are known.
    fn awaited(&self, _wait: Self::Wait) -> Vec<ThreadId> {
        Vec::new()
    }
}
