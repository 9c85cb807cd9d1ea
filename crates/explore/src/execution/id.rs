//! Identifiers of threads, objects and events.
//!
//! Ids are consecutive numbers. The front-end assigns them once per process, so that a thread or an
//! object has the same id in every execution. It recognizes a thread by its *spawn path* (for each
//! of its ancestors and the thread itself, the number among the threads of its parent), and an
//! object by its creator and its number among the objects of that creator.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A thread. Thread 0 is the main thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct ThreadId(pub u16);

impl ThreadId {
    /// The main thread.
    pub const MAIN: ThreadId = ThreadId(0);

    /// Returns the id as a column index.
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// Returns the thread with this column index.
    #[inline]
    pub fn from_index(index: usize) -> ThreadId {
        ThreadId(u16::try_from(index).expect("at most 65,535 threads are interned"))
    }
}

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "T{}", self.0)
    }
}

/// An object that operations access. Two operations can conflict only on the same object. A
/// synchronization object may have several consecutive ids, one for each of its parts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct ObjectId(pub u32);

impl ObjectId {
    /// The placeholder for the object of an operation without an object.
    pub const NONE: ObjectId = ObjectId(u32::MAX);

    /// Returns the n-th part of the object that begins with this id.
    #[inline]
    pub fn part(self, n: u32) -> ObjectId {
        ObjectId(self.0 + n)
    }

    /// Returns the id as a column index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An event, identified by its position in the current execution.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct EventId(pub u32);

impl EventId {
    /// Returns the id as a column index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the event at this position.
    #[inline]
    pub fn at(position: usize) -> EventId {
        EventId(u32::try_from(position).expect("an execution has fewer than 2^32 events"))
    }
}

/// The id of a value of the program. Equal ids mean equal values. The core only compares ids for
/// equality. Executions with the same trace have the same ids.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Serialize, Deserialize)]
pub struct ValueId(pub u64);
