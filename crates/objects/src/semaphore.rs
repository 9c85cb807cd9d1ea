//! Counting semaphore: first come, first served, one permit at a time.
//!
//! Releases are writes, so they are ordered. Without this order, the trace would not determine
//! which release a wait follows. A try-acquire has two steps. The first takes a place in the queue.
//! The second gets the permit or gives up the place.

use crate::order::Order;
use crate::{Form, Object, Ticket};
use explore::{EventId, OpKind};

/// The requests and releases of a semaphore.
#[derive(Clone, Default, Debug)]
pub struct Semaphore {
    initial: usize,
    order: Order,
    releases: Vec<EventId>,
}

impl Semaphore {
    /// Takes a place: [`request`](Semaphore::request).
    pub const REQUEST: Form = Form::write(OpKind::SemaphoreRequest, 0);
    /// Waits until the place is granted.
    pub const WAIT: Form = Form::none(OpKind::SemaphoreWait);
    /// Adds a permit: [`release`](Semaphore::release).
    pub const RELEASE: Form = Form::write(OpKind::SemaphoreRelease, 1);
    /// First step of a try: [`request`](Semaphore::request).
    pub const TRY_PLACE: Form = Form::write(OpKind::SemaphoreTryPlace, 0);
    /// Second step of a try: [`resolve`](Semaphore::resolve).
    pub const TRY_RESULT: Form = Form::read(OpKind::SemaphoreTryResult, 1);

    /// Takes a place for an acquire or a try, by the event `at`.
    pub fn request(&mut self, at: EventId) -> Ticket {
        self.order.push(at)
    }

    /// Returns whether the place of a try is granted. If it is not, the try gives up its place.
    pub fn resolve(&mut self, ticket: Ticket) -> bool {
        let is_granted = self.is_granted(ticket);
        if !is_granted {
            self.order.leave(ticket);
        }
        is_granted
    }

    /// Adds a permit, by the event `at`.
    pub fn release(&mut self, at: EventId) {
        self.releases.push(at);
    }

    /// Returns the number of permits for which no place is taken.
    pub fn available(&self) -> usize {
        (self.initial + self.releases.len()).saturating_sub(self.order.len())
    }
}

impl Object for Semaphore {
    type Size = usize;
    type Wait = Ticket;

    /// The number of objects that represent a semaphore: one for the order of requests, one for the
    /// order of releases.
    const PARTS: u32 = 2;

    fn clear(&mut self, initial: usize) {
        self.initial = initial;
        self.order.clear();
        self.releases.clear();
    }

    /// Checks whether there is a permit for this place.
    fn is_granted(&self, ticket: Ticket) -> bool {
        self.order.position(ticket) < self.initial + self.releases.len()
    }

    fn edges(&self, ticket: Ticket, edges: &mut Vec<EventId>) {
        if let Some(number) = self.order.position(ticket).checked_sub(self.initial) {
            edges.push(self.releases[number]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(semaphore: &Semaphore, ticket: Ticket) -> Vec<EventId> {
        let mut edges = Vec::new();
        semaphore.edges(ticket, &mut edges);
        edges
    }

    #[test]
    fn permits_are_granted_in_order() {
        let mut semaphore = Semaphore::new(1);
        let tickets = [0, 1, 2].map(|n| semaphore.request(EventId(n)));
        assert_eq!(
            tickets.map(|ticket| semaphore.is_granted(ticket)),
            [true, false, false]
        );
        semaphore.release(EventId(8));
        semaphore.release(EventId(9));
        assert_eq!(edges(&semaphore, tickets[0]), []);
        assert_eq!(edges(&semaphore, tickets[1]), [EventId(8)]);
        assert_eq!(edges(&semaphore, tickets[2]), [EventId(9)]);
    }

    #[test]
    fn a_failed_try_gives_its_place_to_the_next() {
        let mut semaphore = Semaphore::default();
        let failing = semaphore.request(EventId(0));
        let waiting = semaphore.request(EventId(1));
        assert!(!semaphore.resolve(failing));
        semaphore.release(EventId(3));
        assert!(semaphore.is_granted(waiting));
        assert_eq!(edges(&semaphore, waiting), [EventId(3)]);
        assert_eq!(semaphore.available(), 0);
    }
}
