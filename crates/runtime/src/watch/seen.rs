//! Observations that a thread can make without changing anything, for the await rule.

use explore::{ObjectId, ThreadId, ValueId};

/// An observation that a thread made without changing anything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Seen {
    /// The value of an atomic variable.
    Value(ObjectId, ValueId),
    /// Memory of a native program.
    Memory {
        address: usize,
        length: usize,
        digest: u64,
    },
    /// The mutex with this number is held.
    Locked(u32),
    /// The reader-writer lock with this number is held.
    Held(u32),
    /// A writer holds or waits for the reader-writer lock with this number.
    Written(u32),
    /// The semaphore with this number has no permit.
    NoPermit(u32),
    /// The semaphore with this number has the given number of permits.
    Permits(u32, usize),
    /// The channel with this number has no message.
    NoMessage(u32),
    /// The channel with this number has no room.
    NoRoom(u32),
    /// The mailbox with this number has the given number of letters.
    Letters(u32, usize),
    /// The once with this number is not done.
    NotDone(u32),
    /// The thread has not ended.
    Runs(ThreadId),
    /// The value with this number has the given number of owners.
    Shares(u32, usize),
    /// The value with this number has the given number of weak owners, not counting those from its
    /// creation.
    WeakShares(u32, usize),
    /// The thread has its park token.
    Unparked(ThreadId),
    /// The token with this number is there.
    Notified(u32),
}

impl Seen {
    /// Checks whether both observations concern the same object or place, regardless of the
    /// observed value.
    pub(crate) fn is_about_the_same(self, other: Seen) -> bool {
        use Seen::{
            Held, Letters, Locked, Memory, NoMessage, NoPermit, NoRoom, NotDone, Notified, Permits,
            Runs, Shares, Unparked, Value, WeakShares, Written,
        };
        match (self, other) {
            (Value(one, _), Value(two, _)) => one == two,
            (Memory { address: one, .. }, Memory { address: two, .. }) => one == two,
            (Runs(one), Runs(two)) | (Unparked(one), Unparked(two)) => one == two,
            (Locked(one), Locked(two))
            | (Held(one), Held(two))
            | (Written(one), Written(two))
            | (NoPermit(one), NoPermit(two))
            | (Permits(one, _), Permits(two, _))
            | (NoMessage(one), NoMessage(two))
            | (NoRoom(one), NoRoom(two))
            | (Letters(one, _), Letters(two, _))
            | (NotDone(one), NotDone(two))
            | (Notified(one), Notified(two))
            | (Shares(one, _), Shares(two, _))
            | (WeakShares(one, _), WeakShares(two, _)) => one == two,
            (
                Value(..)
                | Memory { .. }
                | Runs(_)
                | Locked(_)
                | Held(_)
                | Written(_)
                | NoPermit(_)
                | Permits(..)
                | NoMessage(_)
                | NoRoom(_)
                | Letters(..)
                | NotDone(_)
                | Shares(..)
                | WeakShares(..)
                | Unparked(_)
                | Notified(_),
                _,
            ) => false,
        }
    }
}
