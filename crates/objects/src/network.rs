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
    /// How many letters each thread has sent.
    sent: BTreeMap<ThreadId, u32>,
}

/// A letter by its sender and how many it sent before: the same in all executions.
type Name = (ThreadId, u32);

#[derive(Clone, Debug)]
struct Letter {
    name: Name,
    to: ObjectId,
    /// What must come in before.
    after: Vec<Ticket>,
    /// What the sender knew of, the letter included; empty unless delivery is causal.
    past: BTreeSet<Ticket>,
    delivered: Option<EventId>,
    is_received: bool,
}

/// What is to be known of a network to know what it will do.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Routes {
    /// Letters under way: what must come in before them, and what their senders knew of.
    under_way: BTreeMap<Name, (BTreeSet<Name>, BTreeSet<Name>)>,
    /// Letters that came in and are not received: what their senders knew of, where that is passed on.
    unreceived: BTreeMap<Name, BTreeSet<Name>>,
    /// What each thread knows of.
    known: BTreeMap<ThreadId, BTreeSet<Name>>,
    /// Who has sent to whom, or knows that somebody has.
    pairs: BTreeSet<(ThreadId, ObjectId)>,
    /// How many letters each thread has sent.
    sent: BTreeMap<ThreadId, u32>,
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
        let number = self.sent.entry(from).or_default();
        self.letters.push(Letter {
            name: (from, *number),
            to,
            after,
            past,
            delivered: None,
            is_received: false,
        });
        *number += 1;
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
        self.letters[letter.index()].is_received = true;
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

    /// All that what it does from now on depends on. Of letters that have come in only that they have: nobody
    /// waits for them any more.
    pub fn routes(&self) -> Routes {
        let is_under_way = |letter: &Letter| letter.delivered.is_none();
        let open = |tickets: &mut dyn Iterator<Item = &Ticket>| -> BTreeSet<Name> {
            let letters = tickets.map(|ticket| &self.letters[ticket.index()]);
            letters
                .filter(|own| is_under_way(own))
                .map(|own| own.name)
                .collect()
        };
        let (under_way, came_in): (Vec<&Letter>, Vec<&Letter>) =
            self.letters.iter().partition(|own| is_under_way(own));
        let known_of = |(thread, past): (&ThreadId, &BTreeSet<Ticket>)| {
            past.iter()
                .map(|ticket| (*thread, self.letters[ticket.index()].to))
                .collect::<Vec<_>>()
        };
        Routes {
            under_way: under_way
                .iter()
                .map(|own| {
                    let (after, past) = (open(&mut own.after.iter()), open(&mut own.past.iter()));
                    (own.name, (after, past))
                })
                .collect(),
            unreceived: came_in
                .iter()
                .filter(|own| !own.is_received && self.delivery == Delivery::Causal)
                .map(|own| (own.name, open(&mut own.past.iter())))
                .collect(),
            known: self
                .past
                .iter()
                .map(|(&thread, past)| (thread, open(&mut past.iter())))
                .collect(),
            pairs: match self.delivery {
                Delivery::Causal => self.past.iter().flat_map(known_of).collect(),
                Delivery::FifoPerPair => self.last.keys().copied().collect(),
                Delivery::MailboxOrder | Delivery::Unordered => BTreeSet::new(),
            },
            sent: self.sent.clone(),
        }
    }

    /// Which letter it is, where that matters after it has come in: the past of its sender becomes known to who
    /// receives it.
    pub fn name(&self, letter: Ticket) -> Option<(ThreadId, u32)> {
        (self.delivery == Delivery::Causal).then(|| self.letters[letter.index()].name)
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
