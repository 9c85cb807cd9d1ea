//! The network between processes: when a letter (message or notice) may be delivered.
//!
//! With [`Delivery::MailboxOrder`] there is no network: a letter is in the mailbox when it is sent.
//! With the other models, a letter is in transit until a separate step delivers it. A delivery
//! model only defines which letters must be delivered before that step. The past of the sender
//! determines this set, so the wait for these letters has no access.

use crate::{Form, Object, Ticket};
use explore::{EventId, ObjectId, OpKind, ThreadId};
use std::collections::{BTreeMap, BTreeSet};

/// The orders in which letters can be delivered.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Delivery {
    /// A letter is in the mailbox when it is sent: Erlang on one node.
    #[default]
    MailboxOrder,
    /// A letter is delivered after every letter to the same process that was sent before it: causal
    /// broadcast. Only messages and spawns determine this order of sends.
    Causal,
    /// Letters from one process to another are delivered in the order in which they were sent: TCP,
    /// Erlang between nodes.
    FifoPerPair,
    /// Letters are delivered in any order: UDP, ABS.
    Unordered,
}

impl Delivery {
    /// All models, the strongest first. Each permits all orders of the models before it.
    pub const ALL: [Delivery; 4] = [
        Delivery::MailboxOrder,
        Delivery::Causal,
        Delivery::FifoPerPair,
        Delivery::Unordered,
    ];
}

/// The letters in transit and the delivered letters.
#[derive(Clone, Debug, Default)]
pub struct Network {
    delivery: Delivery,
    letters: Vec<Letter>,
    /// The last letter of each sender to each receiver.
    last: BTreeMap<(ThreadId, ObjectId), Ticket>,
    /// The past of each thread: the letters that were sent before the thread's next step, in the
    /// order that messages and spawns alone determine. Empty unless delivery is causal.
    past: BTreeMap<ThreadId, BTreeSet<Ticket>>,
    /// The number of letters that each thread has sent.
    sent: BTreeMap<ThreadId, u32>,
}

/// The sender of a letter and the number of its earlier letters: the same in all executions.
type Name = (ThreadId, u32);

#[derive(Clone, Debug)]
struct Letter {
    name: Name,
    to: ObjectId,
    /// The letters that must be delivered before this letter.
    after: Vec<Ticket>,
    /// The past of the sender, including this letter. Empty unless delivery is causal.
    past: BTreeSet<Ticket>,
    delivered: Option<EventId>,
    is_received: bool,
}

/// The part of a network's state that determines its future.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Routes {
    /// For each letter in transit: the letters that must be delivered before it, and the past of
    /// its sender.
    under_way: BTreeMap<Name, (BTreeSet<Name>, BTreeSet<Name>)>,
    /// If delivery is causal: the past of the sender of each letter that is delivered but not
    /// received.
    unreceived: BTreeMap<Name, BTreeSet<Name>>,
    /// The past of each thread.
    known: BTreeMap<ThreadId, BTreeSet<Name>>,
    /// Pairs of a thread and a receiver of a letter that the thread sent or that is in its past.
    pairs: BTreeSet<(ThreadId, ObjectId)>,
    /// The number of letters that each thread has sent.
    sent: BTreeMap<ThreadId, u32>,
}

impl Network {
    /// Waits for the delivery of the letters that must be delivered before this letter.
    pub const WAIT: Form = Form::none(OpKind::DeliveryWait);

    /// Records that a letter is sent.
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

    /// Checks whether the letter must wait for other letters. This is known when the letter is
    /// sent.
    pub fn is_restricted(&self, letter: Ticket) -> bool {
        !self.letters[letter.index()].after.is_empty()
    }

    /// Records the delivery of the letter, by the event `at`.
    pub fn deliver(&mut self, letter: Ticket, at: EventId) {
        self.letters[letter.index()].delivered = Some(at);
    }

    /// Records that a process received the letter. The past of the letter's sender is now part of
    /// the process's past.
    pub fn receive(&mut self, process: ThreadId, letter: Ticket) {
        self.letters[letter.index()].is_received = true;
        if self.delivery == Delivery::Causal {
            let past = self.letters[letter.index()].past.clone();
            self.past.entry(process).or_default().extend(past);
        }
    }

    /// Records that a process starts another, which inherits its past.
    pub fn spawn(&mut self, parent: ThreadId, child: ThreadId) {
        if self.delivery == Delivery::Causal {
            let past = self.past.get(&parent).cloned().unwrap_or_default();
            self.past.insert(child, past);
        }
    }

    /// Returns the state that determines the future. Each set of letters includes only letters in
    /// transit, because no letter waits for a delivered letter any more.
    pub fn routes(&self) -> Routes {
        let is_under_way = |letter: &Letter| letter.delivered.is_none();
        let open = |tickets: &mut dyn Iterator<Item = &Ticket>| -> BTreeSet<Name> {
            let letters = tickets.map(|ticket| &self.letters[ticket.index()]);
            letters
                .filter(|letter| is_under_way(letter))
                .map(|letter| letter.name)
                .collect()
        };
        let (under_way, came_in): (Vec<&Letter>, Vec<&Letter>) =
            self.letters.iter().partition(|letter| is_under_way(letter));
        let known_of = |(thread, past): (&ThreadId, &BTreeSet<Ticket>)| {
            past.iter()
                .map(|ticket| (*thread, self.letters[ticket.index()].to))
                .collect::<Vec<_>>()
        };
        Routes {
            under_way: under_way
                .iter()
                .map(|letter| {
                    let (after, past) = (
                        open(&mut letter.after.iter()),
                        open(&mut letter.past.iter()),
                    );
                    (letter.name, (after, past))
                })
                .collect(),
            unreceived: came_in
                .iter()
                .filter(|letter| !letter.is_received && self.delivery == Delivery::Causal)
                .map(|letter| (letter.name, open(&mut letter.past.iter())))
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

    /// Returns the letter's identity if it matters after delivery, that is, if the receiver will
    /// inherit the past of the sender.
    pub fn name(&self, letter: Ticket) -> Option<(ThreadId, u32)> {
        (self.delivery == Delivery::Causal).then(|| self.letters[letter.index()].name)
    }
}

impl Object for Network {
    type Size = Delivery;
    type Wait = Ticket;

    /// The number of objects that represent a network.
    const PARTS: u32 = 1;

    fn clear(&mut self, delivery: Delivery) {
        *self = Network {
            delivery,
            ..Network::default()
        };
    }

    /// Checks whether the letter may be delivered.
    fn is_granted(&self, letter: Ticket) -> bool {
        let after = &self.letters[letter.index()].after;
        after
            .iter()
            .all(|before| self.letters[before.index()].delivered.is_some())
    }

    fn edges(&self, letter: Ticket, edges: &mut Vec<EventId>) {
        for before in &self.letters[letter.index()].after {
            edges.extend(self.letters[before.index()].delivered);
        }
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
        assert!(network.is_granted(first) && network.is_granted(other));
        assert!(!network.is_granted(second));
        network.deliver(first, EventId(5));
        assert!(network.is_granted(second));
        let mut edges = Vec::new();
        network.edges(second, &mut edges);
        assert_eq!(edges, [EventId(5)]);
    }

    /// Ann sends to Cy, then to Ben. Ben then sends to Cy because of Ann's message.
    fn relayed(delivery: Delivery) -> bool {
        let mut network = Network::new(delivery);
        network.post(ANN, AT_CY);
        let to_ben = network.post(ANN, AT_BEN);
        network.deliver(to_ben, EventId(1));
        network.receive(BEN, to_ben);
        let relayed = network.post(BEN, AT_CY);
        network.is_granted(relayed)
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
        assert!(network.is_restricted(later) && !network.is_granted(later));
    }
}
