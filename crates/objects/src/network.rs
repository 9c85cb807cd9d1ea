//! The network between processes: when a letter may be delivered.
//!
//! In [`Delivery::MailboxOrder`] there is none: a letter is in the mailbox when it is sent. Elsewhere a
//! letter is under way until a step of its own brings it in. A model of delivery only says which letters
//! must have come in before that step may be taken, a set that the sender's past determines; so the wait
//! for them has no access.

use crate::{Form, Ticket};
use explore::{EventId, ObjectId, OpKind, ThreadId};
use std::collections::{BTreeMap, BTreeSet};

/// In which orders letters come in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Delivery {
    /// A letter is in the mailbox when it is sent: Erlang on one node.
    #[default]
    MailboxOrder,
    /// A letter comes in after all letters to the same process that happened to be sent before it, as
    /// far as messages tell: causal broadcast.
    Causal,
    /// Letters from one process to another come in as they were sent: TCP, Erlang between nodes.
    FifoPerPair,
    /// Letters come in in any order: UDP, ABS.
    Unordered,
}

impl Delivery {
    /// All models, the strongest first: each has all the orders of those before it.
    pub const ALL: [Delivery; 4] = [
        Delivery::MailboxOrder,
        Delivery::Causal,
        Delivery::FifoPerPair,
        Delivery::Unordered,
    ];
}

/// The letters under way and those that came in.
#[derive(Clone, Debug, Default)]
pub struct Network {
    delivery: Delivery,
    letters: Vec<Letter>,
    /// The last letter from one to another.
    last: BTreeMap<(ThreadId, ObjectId), Ticket>,
    /// For each thread the letters whose sending it knows of by messages.
    past: BTreeMap<ThreadId, BTreeSet<Ticket>>,
}

#[derive(Clone, Debug)]
struct Letter {
    to: ObjectId,
    /// What must come in before.
    after: Vec<Ticket>,
    /// What the sender knew of, the letter included; empty unless delivery is causal.
    past: BTreeSet<Ticket>,
    delivered: Option<EventId>,
}

impl Network {
    /// Number of objects a network takes.
    pub const PARTS: u32 = 1;
    /// Waits until the letters have come in that must come in before this one.
    pub const WAIT: Form = Form::none(OpKind::DeliveryWait);

    /// A network without letters.
    pub fn new(delivery: Delivery) -> Network {
        Network {
            delivery,
            ..Network::default()
        }
    }

    /// A letter is sent.
    pub fn post(&mut self, from: ThreadId, to: ObjectId) -> Ticket {
        let ticket = Ticket::at(self.letters.len());
        let after = match self.delivery {
            Delivery::MailboxOrder | Delivery::Unordered => Vec::new(),
            Delivery::FifoPerPair => self.last.get(&(from, to)).copied().into_iter().collect(),
            Delivery::Causal => {
                let past = self.past.entry(from).or_default().iter();
                past.filter(|earlier| self.letters[earlier.index()].to == to)
                    .copied()
                    .collect()
            }
        };
        self.last.insert((from, to), ticket);
        let past = match self.delivery {
            Delivery::Causal => {
                let past = self.past.entry(from).or_default();
                past.insert(ticket);
                past.clone()
            }
            Delivery::MailboxOrder | Delivery::FifoPerPair | Delivery::Unordered => BTreeSet::new(),
        };
        self.letters.push(Letter {
            to,
            after,
            past,
            delivered: None,
        });
        ticket
    }

    /// Whether the letter has to wait for others: known when it is sent.
    pub fn is_restricted(&self, letter: Ticket) -> bool {
        !self.letters[letter.index()].after.is_empty()
    }

    /// Whether the letter may come in.
    pub fn is_deliverable(&self, letter: Ticket) -> bool {
        let after = &self.letters[letter.index()].after;
        after
            .iter()
            .all(|before| self.letters[before.index()].delivered.is_some())
    }

    /// The after edges of the wait for the letters before this one.
    pub fn edges(&self, letter: Ticket, edges: &mut Vec<EventId>) {
        for before in &self.letters[letter.index()].after {
            edges.extend(self.letters[before.index()].delivered);
        }
    }

    /// The letter came in, by the event `at`.
    pub fn deliver(&mut self, letter: Ticket, at: EventId) {
        self.letters[letter.index()].delivered = Some(at);
    }

    /// A process received the letter: what its sender knew of is now known to it.
    pub fn receive(&mut self, process: ThreadId, letter: Ticket) {
        if self.delivery == Delivery::Causal {
            let past = self.letters[letter.index()].past.clone();
            self.past.entry(process).or_default().extend(past);
        }
    }

    /// A process starts another, which knows what it knows.
    pub fn spawn(&mut self, parent: ThreadId, child: ThreadId) {
        if self.delivery == Delivery::Causal {
            let past = self.past.get(&parent).cloned().unwrap_or_default();
            self.past.insert(child, past);
        }
    }

    /// As new.
    pub fn clear(&mut self, delivery: Delivery) {
        *self = Network::new(delivery);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANN: ThreadId = ThreadId(1);
    const BEN: ThreadId = ThreadId(2);
    const AT_BEN: ObjectId = ObjectId(12);
    const AT_CY: ObjectId = ObjectId(13);

    #[test]
    fn letters_of_a_pair_come_in_as_they_were_sent() {
        let mut network = Network::new(Delivery::FifoPerPair);
        let first = network.post(ANN, AT_CY);
        let second = network.post(ANN, AT_CY);
        let other = network.post(BEN, AT_CY);
        assert!(network.is_deliverable(first) && network.is_deliverable(other));
        assert!(!network.is_deliverable(second));
        network.deliver(first, EventId(5));
        assert!(network.is_deliverable(second));
        let mut edges = Vec::new();
        network.edges(second, &mut edges);
        assert_eq!(edges, [EventId(5)]);
    }

    /// Ann writes to Cy, then to Ben, who writes to Cy because of that.
    fn relayed(delivery: Delivery) -> bool {
        let mut network = Network::new(delivery);
        network.post(ANN, AT_CY);
        let to_ben = network.post(ANN, AT_BEN);
        network.deliver(to_ben, EventId(1));
        network.receive(BEN, to_ben);
        let relayed = network.post(BEN, AT_CY);
        network.is_deliverable(relayed)
    }

    #[test]
    fn only_causal_delivery_keeps_what_a_message_caused_behind_its_cause() {
        assert!(!relayed(Delivery::Causal));
        assert!(relayed(Delivery::FifoPerPair));
        assert!(relayed(Delivery::Unordered));
    }

    #[test]
    fn a_child_knows_what_its_parent_knew() {
        let mut network = Network::new(Delivery::Causal);
        network.post(ANN, AT_CY);
        network.spawn(ANN, BEN);
        let later = network.post(BEN, AT_CY);
        assert!(network.is_restricted(later) && !network.is_deliverable(later));
    }
}
