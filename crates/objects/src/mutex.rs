//! Mutex: first come, first served.
//!
//! No thread overtakes a waiting thread. No behaviour is missed: a request only takes a place, so
//! overtaking is equivalent to the execution in which the overtaken thread's request comes later. A
//! try takes a place like a lock, and gives it up if it is not granted in the second step. The
//! results of two tries commute, because a try fails only if a thread ahead of it holds the mutex.
//!
//! A robust mutex (POSIX) survives its owner. Its condition (consistent, owner ended, not
//! recoverable) depends only on the next owner's place in the order, so it needs no separate
//! access.

use crate::{Form, Object, Ticket};
use explore::{EventId, OpKind, ThreadId};

/// The holder of a mutex and the waiting threads.
#[derive(Clone, Default, Debug)]
pub struct Mutex {
    places: Vec<Place>,
    /// The index of the first taken place, if there is one. Its thread holds the mutex.
    head: usize,
    last_unlock: Option<EventId>,
    condition: Condition,
}

/// The condition of the data that a mutex guards.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Condition {
    /// No thread ended while it held the mutex.
    #[default]
    Consistent,
    /// An owner ended while it held the mutex, and no later holder has declared the data
    /// consistent.
    OwnerEnded,
    /// The mutex was unlocked after an owner had ended, and can no longer be used.
    NotRecoverable,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    thread: ThreadId,
    is_free: bool,
    /// Whether the thread changed nothing, as in a failed try or a round of a spin loop without
    /// progress.
    is_idle: bool,
}

impl Mutex {
    /// Takes a place: [`request`](Mutex::request).
    pub const REQUEST: Form = Form::write(OpKind::MutexRequest, 0);
    /// Waits until the place is granted, with the synchronization [`edges`](Mutex::edges).
    pub const WAIT: Form = Form::none(OpKind::MutexWait);
    /// Passes the mutex to the next place: [`unlock`](Mutex::unlock). The waits between unlocks
    /// order them, so the access costs nothing unless a try reads the part.
    pub const UNLOCK: Form = Form::write(OpKind::MutexUnlock, 1);
    /// First step of a try: [`request`](Mutex::request).
    pub const TRY_PLACE: Form = Form::write(OpKind::MutexTryPlace, 0);
    /// Second step of a try: [`resolve`](Mutex::resolve).
    pub const TRY_RESULT: Form = Form::read(OpKind::MutexTryResult, 1);

    /// Takes a place for a lock or a try.
    pub fn request(&mut self, thread: ThreadId) -> Ticket {
        self.places.push(Place {
            thread,
            is_free: false,
            is_idle: false,
        });
        Ticket::at(self.places.len() - 1)
    }

    /// Returns whether the place of a try is granted. If it is not, the try gives up its place.
    pub fn resolve(&mut self, ticket: Ticket) -> bool {
        let is_granted = self.is_granted(ticket);
        if !is_granted {
            let place = &mut self.places[ticket.index()];
            place.is_free = true;
            place.is_idle = true;
        }
        is_granted
    }

    /// Frees the place of the holder, by the event `at`. If an owner has ended and the data was not
    /// repaired, the mutex becomes not recoverable.
    pub fn unlock(&mut self, ticket: Ticket, at: EventId) {
        if self.condition == Condition::OwnerEnded {
            self.condition = Condition::NotRecoverable;
        }
        self.leave(ticket, at);
    }

    /// Frees the place of the holder because the holder ends, by the event `at`. Records the end of
    /// the owner.
    pub fn abandon(&mut self, ticket: Ticket, at: EventId) {
        self.condition = Condition::OwnerEnded;
        self.leave(ticket, at);
    }

    /// Checks whether a try that came after this held place has failed.
    pub fn has_made_try_fail(&self, ticket: Ticket) -> bool {
        let mut later = self.places[ticket.index() + 1..].iter();
        later.any(|place| place.is_free)
    }

    /// Records that the thread of the place changed nothing while it held the mutex, and is stopped
    /// permanently.
    pub fn made_no_progress(&mut self, ticket: Ticket) {
        self.places[ticket.index()].is_idle = true;
    }

    /// Checks whether the thread of a later place may change the data that the mutex guards.
    pub fn is_overtaken(&self, ticket: Ticket) -> bool {
        let mut later = self.places[ticket.index() + 1..].iter();
        later.any(|place| !place.is_idle)
    }

    /// Returns the condition that the holder of the mutex finds.
    pub fn condition(&self) -> Condition {
        self.condition
    }

    /// Records that the holder has repaired the data. Returns false if there was nothing to repair.
    pub fn repair(&mut self) -> bool {
        let is_repaired = self.condition == Condition::OwnerEnded;
        if is_repaired {
            self.condition = Condition::Consistent;
        }
        is_repaired
    }

    /// Returns the thread that holds the mutex or will hold it as soon as it runs.
    pub fn holder(&self) -> Option<ThreadId> {
        self.places.get(self.head).map(|place| place.thread)
    }

    /// Returns the place of the thread, if it holds the mutex.
    pub fn place_of(&self, thread: ThreadId) -> Option<Ticket> {
        let is_held = self.holder() == Some(thread);
        is_held.then(|| Ticket::at(self.head))
    }

    /// Returns the threads that hold or will hold the mutex, in this order.
    pub fn queue(&self) -> impl Iterator<Item = ThreadId> + '_ {
        let taken = self.places[self.head..].iter();
        taken
            .filter(|place| !place.is_free)
            .map(|place| place.thread)
    }

    fn leave(&mut self, ticket: Ticket, at: EventId) {
        debug_assert!(self.is_granted(ticket), "only the holder releases it");
        self.places[ticket.index()].is_free = true;
        self.last_unlock = Some(at);
        while self
            .places
            .get(self.head)
            .is_some_and(|place| place.is_free)
        {
            self.head += 1;
        }
    }
}

impl Object for Mutex {
    type Size = ();
    type Wait = Ticket;

    /// The number of objects that represent a mutex: one for its order, one for its holder (for
    /// tries).
    const PARTS: u32 = 2;

    fn clear(&mut self, (): ()) {
        self.places.clear();
        self.head = 0;
        self.last_unlock = None;
        self.condition = Condition::Consistent;
    }

    /// Checks whether all places before this place are free.
    fn is_granted(&self, ticket: Ticket) -> bool {
        self.head == ticket.index()
    }

    fn edges(&self, ticket: Ticket, edges: &mut Vec<EventId>) {
        debug_assert!(self.is_granted(ticket), "the wait is enabled");
        edges.extend(self.last_unlock);
    }

    fn awaited(&self, _: Self::Wait) -> Vec<ThreadId> {
        self.holder().into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(mutex: &Mutex, ticket: Ticket) -> Vec<EventId> {
        let mut edges = Vec::new();
        mutex.edges(ticket, &mut edges);
        edges
    }

    #[test]
    fn places_are_granted_in_order() {
        let mut mutex = Mutex::default();
        let first = mutex.request(ThreadId(1));
        let second = mutex.request(ThreadId(2));
        assert!(mutex.is_granted(first) && !mutex.is_granted(second));
        assert_eq!(edges(&mutex, first), []);
        mutex.unlock(first, EventId(7));
        assert_eq!(mutex.holder(), Some(ThreadId(2)));
        assert_eq!(edges(&mutex, second), [EventId(7)]);
        mutex.unlock(second, EventId(9));
        assert_eq!(mutex.holder(), None);
    }

    #[test]
    fn a_failed_try_leaves_its_place() {
        let mut mutex = Mutex::default();
        let holder = mutex.request(ThreadId(0));
        let failing = mutex.request(ThreadId(1));
        let waiting = mutex.request(ThreadId(2));
        assert!(!mutex.resolve(failing));
        mutex.unlock(holder, EventId(4));
        assert!(mutex.is_granted(waiting));
    }

    #[test]
    fn a_try_at_the_head_holds_the_mutex_before_its_result() {
        let mut mutex = Mutex::default();
        let succeeding = mutex.request(ThreadId(0));
        let waiting = mutex.request(ThreadId(1));
        assert!(!mutex.is_granted(waiting));
        assert!(mutex.resolve(succeeding));
    }

    #[test]
    fn a_thread_that_locks_twice_waits_for_itself() {
        let mut mutex = Mutex::default();
        mutex.request(ThreadId(0));
        let again = mutex.request(ThreadId(0));
        assert!(!mutex.is_granted(again));
        assert_eq!(mutex.holder(), Some(ThreadId(0)));
    }

    #[test]
    fn the_next_owner_learns_that_one_ended_and_repairs_or_ruins_the_mutex() {
        let mut mutex = Mutex::default();
        let places = [0, 1, 2, 3].map(|thread| mutex.request(ThreadId(thread)));
        mutex.abandon(places[0], EventId(4));
        assert!(mutex.is_granted(places[1]));
        assert_eq!(mutex.condition(), Condition::OwnerEnded);
        assert!(mutex.repair() && !mutex.repair());
        mutex.unlock(places[1], EventId(5));
        assert_eq!(mutex.condition(), Condition::Consistent);
        mutex.abandon(places[2], EventId(6));
        mutex.unlock(places[3], EventId(7));
        assert_eq!(mutex.condition(), Condition::NotRecoverable);
        assert!(!mutex.repair());
    }

    #[test]
    fn a_cleared_mutex_is_free() {
        let mut mutex = Mutex::default();
        mutex.request(ThreadId(0));
        mutex.clear(());
        let first = mutex.request(ThreadId(1));
        assert!(mutex.is_granted(first));
        assert_eq!(edges(&mutex, first), []);
    }
}
