//! Places in the order of an object.

use explore::EventId;

/// A place in the order of an object, taken by a request. The ticket is valid until the object is
/// cleared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Ticket(u32);

impl Ticket {
    /// Returns the number of the request among those of its object, from 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the ticket of the request with this number.
    pub(crate) fn at(index: usize) -> Ticket {
        Ticket(u32::try_from(index).expect("an object has fewer than 2^32 requests"))
    }
}

/// Requests in order. When a request leaves, the requests after it move up by one position.
#[derive(Clone, Default, Debug)]
pub(crate) struct Order {
    requests: Vec<EventId>,
    /// Numbers of the requests that left, sorted.
    left: Vec<u32>,
}

impl Order {
    /// Takes the last place, by the event `at`.
    pub(crate) fn push(&mut self, at: EventId) -> Ticket {
        self.requests.push(at);
        Ticket::at(self.requests.len() - 1)
    }

    /// Gives up a place.
    pub(crate) fn leave(&mut self, ticket: Ticket) {
        let before = self.left_before(ticket.0);
        debug_assert!(
            self.left.get(before) != Some(&ticket.0),
            "a request leaves only once"
        );
        self.left.insert(before, ticket.0);
    }

    /// Returns the number of taken places.
    pub(crate) fn len(&self) -> usize {
        self.requests.len() - self.left.len()
    }

    /// Returns the number of taken places before this place.
    pub(crate) fn position(&self, ticket: Ticket) -> usize {
        ticket.index() - self.left_before(ticket.0)
    }

    /// Returns the request at a position.
    pub(crate) fn at(&self, position: usize) -> Option<Ticket> {
        if position >= self.len() {
            return None;
        }
        // left[k] - k requests remain before the k-th request that left.
        let (mut low, mut high) = (0, self.left.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.left[middle] as usize - middle <= position {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Some(Ticket::at(position + low))
    }

    /// Returns the event that took the place.
    pub(crate) fn event(&self, ticket: Ticket) -> EventId {
        self.requests[ticket.index()]
    }

    pub(crate) fn clear(&mut self) {
        self.requests.clear();
        self.left.clear();
    }

    fn left_before(&self, number: u32) -> usize {
        match self.left.last() {
            Some(&last) if last >= number => self.left.partition_point(|&left| left < number),
            Some(_) | None => self.left.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_move_up_behind_a_request_that_leaves() {
        let mut order = Order::default();
        let tickets: Vec<Ticket> = (0..6).map(|n| order.push(EventId(n))).collect();
        for gone in [3, 0, 4] {
            order.leave(tickets[gone]);
        }
        assert_eq!(order.len(), 3);
        for (position, index) in [1, 2, 5].into_iter().enumerate() {
            assert_eq!(order.position(tickets[index]), position);
            assert_eq!(order.at(position), Some(tickets[index]));
        }
        assert_eq!(order.at(3), None);
    }
}
