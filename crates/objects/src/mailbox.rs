//! The mailbox of a process: letters (messages and notices) in the order of arrival.
//!
//! An arrival is a write, so arrivals at one mailbox are ordered, as in Concuerror (POPL 2014,
//! section 7). The process examines its letters one after the other. A letter keeps its position.
//! So the wait for a letter has no access, only a synchronization edge from the letter's arrival.
//! Only a receive with a timeout depends on the number of letters, and reads this number.
//!
//! The front-end stores the letters by position and decides which letter matches a receive.

use crate::Form;
use explore::{EventId, OpKind};

/// The order of the letters of a process, and which letters were received.
#[derive(Clone, Default, Debug)]
pub struct Mailbox {
    arrivals: Vec<EventId>,
    /// Indexed by position.
    is_received: Vec<bool>,
    is_closed: bool,
}

impl Mailbox {
    /// The number of objects that represent a mailbox.
    pub const PARTS: u32 = 1;
    /// Sends a letter that arrives at once: [`arrive`](Mailbox::arrive).
    pub const SEND: Form = Form::write(OpKind::Send, 0);
    /// Delivers a letter over the network: [`arrive`](Mailbox::arrive).
    pub const DELIVER: Form = Form::write(OpKind::Deliver, 0);
    /// Waits for the letter at a position.
    pub const WAIT: Form = Form::none(OpKind::LetterWait);
    /// Reads the number of letters: [`count`](Mailbox::count).
    pub const COUNT: Form = Form::read(OpKind::LetterLook, 0);
    /// Closes the mailbox at the end of its process: [`close`](Mailbox::close). Performed only if
    /// letters that arrive later are to be noticed.
    pub const CLOSE: Form = Form::write(OpKind::MailboxClose, 0);

    /// Records the arrival of a letter, by the event `at`. Returns the letter's position.
    pub fn arrive(&mut self, at: EventId) -> usize {
        self.arrivals.push(at);
        self.is_received.push(false);
        self.arrivals.len() - 1
    }

    /// Returns the number of letters that have arrived.
    pub fn count(&self) -> usize {
        self.arrivals.len()
    }

    /// Checks whether there is a letter at this position, received or not.
    pub fn has(&self, position: usize) -> bool {
        position < self.arrivals.len()
    }

    /// Appends to `edges` the arrival of the letter at this position, from which a synchronization
    /// edge leads to the wait for the letter.
    pub fn edges(&self, position: usize, edges: &mut Vec<EventId>) {
        edges.extend(self.arrivals.get(position));
    }

    /// Marks the letter at this position as received or as no longer needed.
    pub fn receive(&mut self, position: usize) {
        self.is_received[position] = true;
    }

    /// Returns the positions of the letters that were not received.
    pub fn unreceived(&self) -> impl Iterator<Item = usize> {
        let letters = self.is_received.iter().enumerate();
        letters
            .filter(|(_, is_received)| !**is_received)
            .map(|(position, _)| position)
    }

    /// Closes the mailbox: letters that arrive later are not received.
    pub fn close(&mut self) {
        self.is_closed = true;
    }

    /// Checks whether the mailbox is closed.
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Resets the mailbox for the next execution.
    pub fn clear(&mut self) {
        self.arrivals.clear();
        self.is_received.clear();
        self.is_closed = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_stays_at_its_position() {
        let mut mailbox = Mailbox::default();
        assert!(!mailbox.has(0));
        let positions = [4, 7].map(|at| mailbox.arrive(EventId(at)));
        assert_eq!(positions, [0, 1]);
        mailbox.receive(0);
        assert!(mailbox.has(1) && !mailbox.has(2));
        let mut edges = Vec::new();
        mailbox.edges(1, &mut edges);
        assert_eq!(edges, [EventId(7)]);
        assert_eq!(mailbox.unreceived().collect::<Vec<_>>(), [1]);
    }
}
