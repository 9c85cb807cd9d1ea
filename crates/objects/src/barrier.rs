//! Barrier for n threads, again and again.
//!
//! Where exactly n threads use it and nobody asks who leads, arrivals have no access and no order.
//! Otherwise they are ordered (`ordered`): which n form a generation, and who comes last, depends on it.

use crate::{Form, Ticket};
use explore::{EventId, OpKind, ThreadId};

/// Who arrived at a barrier.
#[derive(Clone, Default, Debug)]
pub struct Barrier {
    places: usize,
    arrivals: Vec<EventId>,
    /// The threads that arrived, each once.
    users: Vec<ThreadId>,
}

impl Barrier {
    /// Number of objects a barrier takes.
    pub const PARTS: u32 = 1;
    /// Waits until the generation is complete.
    pub const WAIT: Form = Form::none(OpKind::BarrierWait);

    /// [`arrive`](Barrier::arrive); `ordered`: more threads than places use the barrier, or someone
    /// asks who leads.
    pub const fn arrive_form(ordered: bool) -> Form {
        if ordered {
            Form::write(OpKind::BarrierArrive, 0)
        } else {
            Form::none(OpKind::BarrierArrive)
        }
    }

    /// A barrier for this many threads; for none it is like for one.
    pub fn new(places: usize) -> Barrier {
        Barrier {
            places: places.max(1),
            ..Barrier::default()
        }
    }

    /// Arrives, by the event `at`.
    pub fn arrive(&mut self, thread: ThreadId, at: EventId) -> Ticket {
        if !self.users.contains(&thread) {
            self.users.push(thread);
        }
        self.arrivals.push(at);
        Ticket::at(self.arrivals.len() - 1)
    }

    /// Whether more threads than places have arrived: arrivals must be ordered.
    pub fn is_crowded(&self) -> bool {
        self.users.len() > self.places
    }

    /// Whether the generation is complete.
    pub fn is_granted(&self, ticket: Ticket) -> bool {
        self.generation(ticket).end <= self.arrivals.len()
    }

    /// The after edges of the wait for a complete generation.
    pub fn edges(&self, ticket: Ticket, edges: &mut Vec<EventId>) {
        edges.extend_from_slice(&self.arrivals[self.generation(ticket)]);
    }

    /// Whether it was the last arrival of its generation. Only where arrivals are ordered.
    pub fn is_leader(&self, ticket: Ticket) -> bool {
        self.generation(ticket).end == ticket.index() + 1
    }

    /// How many more must arrive before the generation is complete.
    pub fn missing(&self, ticket: Ticket) -> usize {
        self.generation(ticket)
            .end
            .saturating_sub(self.arrivals.len())
    }

    /// As new, for this many threads.
    pub fn clear(&mut self, places: usize) {
        self.places = places.max(1);
        self.arrivals.clear();
        self.users.clear();
    }

    fn generation(&self, ticket: Ticket) -> std::ops::Range<usize> {
        let start = ticket.index() / self.places * self.places;
        start..start + self.places
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
    fn more_threads_than_places_make_it_crowded() {
        let mut barrier = Barrier::new(2);
        for n in 0..3 {
            assert!(!barrier.is_crowded());
            barrier.arrive(ThreadId(n), EventId(0));
        }
        assert!(barrier.is_crowded());
    }
}
