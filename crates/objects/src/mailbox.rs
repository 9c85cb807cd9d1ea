//! The mailbox of a process: letters in the order of their arrival.
//!
//! An arrival is a write; two of them at one mailbox are ordered, as in Concuerror (POPL 2014, section 7).
//! The process looks at its letters one after the other. The letter at a position stays there for good,
//! so to wait for it is a wait without access, after the event that brought it. Only a receive with a
//! timeout must know how many letters there are: it looks, which is a read.
//!
//! Which letter fits a receive is for the front-end to say; it keeps the letters by their position.

use crate::Form;
use explore::{EventId, OpKind};

/// The order of the letters of a process, and which of them were received.
#[derive(Clone, Default, Debug)]
pub struct Mailbox {
    arrivals: Vec<EventId>,
    /// Indexed by position.
    is_received: Vec<bool>,
    is_closed: bool,
}

impl Mailbox {
    /// Number of objects a mailbox takes.
    pub const PARTS: u32 = 1;
    /// Sends a letter that is there at once: [`arrive`](Mailbox::arrive).
    pub const SEND: Form = Form::write(OpKind::Send, 0);
    /// The network brings a letter: [`arrive`](Mailbox::arrive).
    pub const DELIVER: Form = Form::write(OpKind::Deliver, 0);
    /// Waits for the letter at a position.
    pub const WAIT: Form = Form::none(OpKind::LetterWait);
    /// Looks how many letters there are: [`count`](Mailbox::count).
    pub const LOOK: Form = Form::read(OpKind::LetterLook, 0);
    /// The process ends, where it matters which letters come too late: [`close`](Mailbox::close).
    pub const CLOSE: Form = Form::write(OpKind::MailboxClose, 0);

    /// A letter comes in, by the event `at`; gives its position.
    pub fn arrive(&mut self, at: EventId) -> usize {
        self.arrivals.push(at);
        self.is_received.push(false);
        self.arrivals.len() - 1
    }

    /// How many letters have come in.
    pub fn count(&self) -> usize {
        self.arrivals.len()
    }

    /// Whether there is a letter at this position, received or not.
    pub fn has(&self, position: usize) -> bool {
        position < self.arrivals.len()
    }

    /// The after edges of the wait for the letter at this position.
    pub fn edges(&self, position: usize, edges: &mut Vec<EventId>) {
        edges.extend(self.arrivals.get(position));
    }

    /// The process takes the letter at this position, or need not.
    pub fn receive(&mut self, position: usize) {
        self.is_received[position] = true;
    }

    /// The positions of the letters that nobody received.
    pub fn unreceived(&self) -> impl Iterator<Item = usize> {
        let letters = self.is_received.iter().enumerate();
        letters
            .filter(|(_, is_received)| !**is_received)
            .map(|(position, _)| position)
    }

    /// No letter that comes in from now on will be received.
    pub fn close(&mut self) {
        self.is_closed = true;
    }

    /// Whether letters come too late.
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// As new.
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
