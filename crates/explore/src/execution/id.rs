//! Identities: what a thread, an object and an event are called.
//!
//! Ids are dense and interned per process by the front-end: the same thread (by its spawn path) and the
//! same object (by its creator and its number there) have the same id in every execution.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A thread, interned by its spawn path. Thread 0 is the main thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct ThreadId(pub u16);

impl ThreadId {
    /// The thread that the program starts with.
    pub const MAIN: ThreadId = ThreadId(0);

    /// The id as an index of a column.
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// The thread with this index of a column.
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

/// Something that operations access: two operations can conflict only on the same object.
/// A synchronisation object may take several consecutive ids, one for each of its parts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct ObjectId(pub u32);

impl ObjectId {
    /// The object of an operation that concerns none.
    pub const NONE: ObjectId = ObjectId(u32::MAX);

    /// The n-th part of the object that begins here.
    #[inline]
    pub fn part(self, n: u32) -> ObjectId {
        ObjectId(self.0 + n)
    }

    /// The id as an index of a column.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An event by its position in the execution at hand.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct EventId(pub u32);

impl EventId {
    /// The id as an index of a column.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The event at this position.
    #[inline]
    pub fn at(position: usize) -> EventId {
        EventId(u32::try_from(position).expect("an execution has less than 2^32 events"))
    }
}

/// A value of the program, opaque to the core, which only tests tokens for equality.
/// Two executions with the same trace have the same tokens.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Serialize, Deserialize)]
pub struct Token(pub u64);
