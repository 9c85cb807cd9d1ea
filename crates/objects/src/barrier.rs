//! Reusable barrier for n threads.
//!
//! Each n arrivals in a row form a *generation*. They wait for each other, and the last of them is
//! the *leader*. If at most n threads use the barrier and none queries the leader, arrivals have no
//! access and are not ordered. In all other cases they are ordered (`ordered`), because generations
//! and leaders depend on the order.

use crate::{Form, Object, Ticket};
use explore::{EventId, OpKind, ThreadId};

/// The arrivals at a barrier.
#[derive(Clone, Default, Debug)]
pub struct Barrier {
    places: usize,
    arrivals: Vec<EventId>,
    /// The threads that arrived, each listed once.
    users: Vec<ThreadId>,
}

impl Barrier {
    /// Waits until the generation is complete.
    pub const WAIT: Form = Form::none(OpKind::BarrierWait);

    /// Returns the form of [`arrive`](Barrier::arrive). `ordered` is true if more threads use the
    /// barrier than it has places, or if a thread queries the leader.
    pub const fn arrive_form(ordered: bool) -> Form {
        if ordered {
            Form::write(OpKind::BarrierArrive, 0)
        } else {
            Form::none(OpKind::BarrierArrive)
        }
    }

    /// Records the arrival of the thread, by the event `at`.
    pub fn arrive(&mut self, thread: ThreadId, at: EventId) -> Ticket {
        if !self.users.contains(&thread) {
            self.users.push(thread);
        }
        self.arrivals.push(at);
        Ticket::at(self.arrivals.len() - 1)
    }

    /// Checks whether more threads have arrived than the barrier has places. If so, arrivals must
    /// be ordered.
    pub fn is_crowded(&self) -> bool {
        self.users.len() > self.places
    }

    /// Checks whether the arrival, which must be ordered, is the last of its generation.
    pub fn is_leader(&self, ticket: Ticket) -> bool {
        self.generation(ticket).end == ticket.index() + 1
    }

    /// Returns the number of arrivals missing from the generation of this arrival.
    pub fn missing(&self, ticket: Ticket) -> usize {
        self.generation(ticket)
            .end
            .saturating_sub(self.arrivals.len())
    }

    fn generation(&self, ticket: Ticket) -> std::ops::Range<usize> {
        let start = ticket.index() / self.places * self.places;
        start..start + self.places
    }
}

impl Object for Barrier {
    type Size = usize;
    type Wait = Ticket;

    /// The number of objects that represent a barrier.
    const PARTS: u32 = 1;

    fn clear(&mut self, places: usize) {
        self.places = places.max(1);
        self.arrivals.clear();
        self.users.clear();
    }

    /// Checks whether the generation is complete.
    fn is_granted(&self, ticket: Ticket) -> bool {
        self.generation(ticket).end <= self.arrivals.len()
    }

    fn edges(&self, ticket: Ticket, edges: &mut Vec<EventId>) {
        edges.extend_from_slice(&self.arrivals[self.generation(ticket)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generation_waits_for_all_its_arrivals() {
        let mut barrier = Barrier::new(2);
        let first = barrier.arrive(ThreadId(0), EventId(0));
        assert!(!barrier.is_granted(first));
        assert_eq!(barrier.missing(first), 1);
        let second = barrier.arrive(ThreadId(1), EventId(1));
        assert!(barrier.is_granted(first) && barrier.is_granted(second));
        assert!(barrier.is_leader(second) && !barrier.is_leader(first));
        let next = barrier.arrive(ThreadId(0), EventId(4));
        assert!(!barrier.is_granted(next) && !barrier.is_crowded());
        let mut edges = Vec::new();
        barrier.edges(first, &mut edges);
        assert_eq!(edges, [EventId(0), EventId(1)]);
    }

    #[test]
    fn a_barrier_with_more_threads_than_places_is_crowded() {
        let mut barrier = Barrier::new(2);
        for n in 0..3 {
            assert!(!barrier.is_crowded());
            barrier.arrive(ThreadId(n), EventId(0));
        }
        assert!(barrier.is_crowded());
    }
}
