//! Condition variable.
//!
//! A wait has these steps: enqueue, unlock the mutex, wait for a signal, request the mutex, wait
//! for it. Enqueuing after the unlock would miss signals. A timed wait has a step that resolves it
//! instead of a wait for a signal: the thread was signalled, or it gives up. The order of this step
//! and the signals decides between the two, so no choice is needed. Spurious wakeups are not
//! modelled; a timed wait whose result is ignored has the same effect.

use crate::{Form, Object, Ticket};
use explore::{EventId, OpKind, ThreadId};

/// The waiters of a condition variable, and the signals to them.
#[derive(Clone, Default, Debug)]
pub struct Condvar {
    places: Vec<Place>,
    /// Places that were neither signalled nor given up, in the order of arrival.
    waiting: Vec<Ticket>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    thread: ThreadId,
    signal: Option<EventId>,
}

impl Condvar {
    /// Adds a waiter: [`enqueue`](Condvar::enqueue).
    pub const ENQUEUE: Form = Form::write(OpKind::CondvarEnqueue, 0);
    /// Waits for a signal.
    pub const WAIT: Form = Form::none(OpKind::CondvarWait);
    /// Ends a timed wait: [`resolve`](Condvar::resolve).
    pub const RESOLVE: Form = Form::write(OpKind::CondvarResolve, 0);
    /// The form of [`signal`](Condvar::signal), which may have several
    /// [`alternatives`](Condvar::alternatives).
    pub const SIGNAL: Form = Form::write(OpKind::CondvarSignal, 0);
    /// The form of [`broadcast`](Condvar::broadcast).
    pub const BROADCAST: Form = Form::write(OpKind::CondvarBroadcast, 0);

    /// Adds the thread to the waiters.
    pub fn enqueue(&mut self, thread: ThreadId) -> Ticket {
        let ticket = Ticket::at(self.places.len());
        self.places.push(Place {
            thread,
            signal: None,
        });
        self.waiting.push(ticket);
        ticket
    }

    /// Returns the number of waiters that were not signalled and have not given up.
    pub fn waiters(&self) -> usize {
        self.waiting.len()
    }

    /// Returns the number of ways in which a signal can be performed.
    pub fn alternatives(&self) -> u32 {
        u32::try_from(self.waiting.len().max(1)).expect("there are fewer than 2^32 waiters")
    }

    /// Signals one waiter, by the event `at`. `choice` is its index in the order of arrival.
    /// Returns the waiter's thread, or `None` if there is no waiter.
    pub fn signal(&mut self, choice: u32, at: EventId) -> Option<ThreadId> {
        if self.waiting.is_empty() {
            return None;
        }
        let ticket = self.waiting.remove(choice as usize);
        let place = &mut self.places[ticket.index()];
        place.signal = Some(at);
        Some(place.thread)
    }

    /// Signals all waiters, by the event `at`.
    pub fn broadcast(&mut self, at: EventId) {
        for ticket in self.waiting.drain(..) {
            self.places[ticket.index()].signal = Some(at);
        }
    }

    /// Returns the event that signalled the waiter, or `None` if there was none.
    pub fn signal_of(&self, ticket: Ticket) -> Option<EventId> {
        self.places[ticket.index()].signal
    }

    /// Ends a timed wait. Returns whether the waiter was signalled. If not, the waiter gives up its
    /// place.
    pub fn resolve(&mut self, ticket: Ticket) -> bool {
        let is_signalled = self.is_granted(ticket);
        if !is_signalled {
            self.waiting.retain(|&waiting| waiting != ticket);
        }
        is_signalled
    }
}

impl Object for Condvar {
    type Size = ();
    type Wait = Ticket;

    /// The number of objects that represent a condition variable.
    const PARTS: u32 = 1;

    fn clear(&mut self, (): ()) {
        self.places.clear();
        self.waiting.clear();
    }

    /// Checks whether the waiter was signalled.
    fn is_granted(&self, ticket: Ticket) -> bool {
        self.signal_of(ticket).is_some()
    }

    fn edges(&self, ticket: Ticket, edges: &mut Vec<EventId>) {
        edges.extend(self.signal_of(ticket));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_without_waiters_is_lost() {
        let mut condvar = Condvar::default();
        assert_eq!(condvar.alternatives(), 1);
        assert_eq!(condvar.signal(0, EventId(0)), None);
        let late = condvar.enqueue(ThreadId(0));
        assert!(!condvar.is_granted(late));
    }

    #[test]
    fn a_signal_wakes_the_waiter_that_is_chosen() {
        let mut condvar = Condvar::default();
        let tickets = [0, 1, 2].map(|n| condvar.enqueue(ThreadId(n)));
        assert_eq!(condvar.alternatives(), 3);
        assert_eq!(condvar.signal(1, EventId(3)), Some(ThreadId(1)));
        assert_eq!(
            tickets.map(|ticket| condvar.is_granted(ticket)),
            [false, true, false]
        );
        assert_eq!(condvar.signal(1, EventId(4)), Some(ThreadId(2)));
        let mut edges = Vec::new();
        condvar.edges(tickets[2], &mut edges);
        assert_eq!(edges, [EventId(4)]);
    }

    #[test]
    fn a_broadcast_wakes_those_who_wait_and_nobody_later() {
        let mut condvar = Condvar::default();
        let early = condvar.enqueue(ThreadId(0));
        condvar.broadcast(EventId(1));
        let late = condvar.enqueue(ThreadId(1));
        assert!(condvar.is_granted(early) && !condvar.is_granted(late));
    }

    #[test]
    fn a_timed_wait_that_expires_takes_no_signal() {
        let mut condvar = Condvar::default();
        let timed = condvar.enqueue(ThreadId(0));
        let waiting = condvar.enqueue(ThreadId(1));
        assert!(!condvar.resolve(timed));
        assert_eq!(condvar.alternatives(), 1);
        assert_eq!(condvar.signal(0, EventId(2)), Some(ThreadId(1)));
        assert!(condvar.resolve(waiting));
    }
}
