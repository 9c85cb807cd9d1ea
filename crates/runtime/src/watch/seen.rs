//! Observations that a thread can make without changing anything, for the await rule.

use crate::engine::Engine;
use explore::{EventId, ObjectId, ThreadId, ValueId};
use std::mem::discriminant;

/// An observation that a thread made without changing anything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Seen {
    /// The value of an atomic variable, or the number of the last write to another object.
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
        discriminant(&self) == discriminant(&other) && self.number() == other.number()
    }

    /// Returns the number or address of the observed object or place among those of its kind.
    fn number(self) -> usize {
        match self {
            Seen::Value(object, _) => object.index(),
            Seen::Memory { address, .. } => address,
            Seen::Runs(thread) | Seen::Unparked(thread) => thread.index(),
            Seen::Locked(number)
            | Seen::Held(number)
            | Seen::Written(number)
            | Seen::NoPermit(number)
            | Seen::Permits(number, _)
            | Seen::NoMessage(number)
            | Seen::NoRoom(number)
            | Seen::Letters(number, _)
            | Seen::NotDone(number)
            | Seen::Shares(number, _)
            | Seen::WeakShares(number, _)
            | Seen::Notified(number) => number as usize,
        }
    }
}

impl Engine {
    /// Checks whether a thread would make the same observation now.
    pub(crate) fn is_still(&self, seen: Seen) -> bool {
        let objects = &self.life.objects;
        match seen {
            Seen::Value(object, token) => match self.life.values.get(object.index()) {
                Some(&Some(now)) => now == token,
                Some(None) | None => true,
            },
            Seen::Memory {
                address,
                length,
                digest,
            } => {
                // SAFETY: the program has read this memory, which stays readable until the
                // execution is reset.
                let now = unsafe { crate::native::digest_at(address, length) };
                now == digest
            }
            Seen::Locked(number) => objects.mutexes.get(number).holder().is_some(),
            Seen::Held(number) => objects
                .rwlocks
                .get(number)
                .clone()
                .try_write(ThreadId::MAIN)
                .is_none(),
            Seen::Written(number) => objects
                .rwlocks
                .get(number)
                .clone()
                .try_read(ThreadId::MAIN)
                .is_none(),
            Seen::NoPermit(number) => objects.semaphores.get(number).available() == 0,
            Seen::Permits(number, permits) => objects.semaphores.get(number).available() == permits,
            Seen::NoMessage(number) => {
                let mut channel = objects.channels.get(number).clone();
                let ticket = channel.receive_request(EventId(0));
                !channel.is_receive_over(ticket)
            }
            Seen::NoRoom(number) => {
                let mut channel = objects.channels.get(number).clone();
                let ticket = channel.send_request(EventId(0));
                ticket.is_some_and(|ticket| !channel.is_send_over(ticket))
            }
            Seen::Letters(number, count) => objects.mailboxes.get(number).order.count() == count,
            Seen::NotDone(number) => !objects.onces.get(number).is_done(),
            Seen::Shares(number, count) => self.guests.owned.get(number).shares == count,
            Seen::WeakShares(number, count) => self.guests.owned.get(number).weak_shares == count,
            Seen::Runs(thread) => !objects.ends[thread.index()].is_finished(),
            Seen::Unparked(thread) => objects.parks[thread.index()].given().is_some(),
            Seen::Notified(number) => objects.notifies.get(number).given().is_some(),
        }
    }
}
