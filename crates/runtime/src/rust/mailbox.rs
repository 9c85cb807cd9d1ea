//! Mailboxes of processes, and the network that delivers letters (messages) to them.
//!
//! This module only orders the letters. The position of a letter is its number in its mailbox. The
//! front-end stores the letters by their positions, and describes them when an execution is shown
//! to users.

use crate::engine::Engine;
use crate::engine::perform::{self, perform, silently};
use crate::rust::pools::Wait;
use crate::rust::thread::place;
use crate::trace::Shown;
use crate::watch::seen::Seen;
use explore::{ObjectId, ThreadId};
use objects::{Delivery, Form, Mailbox as Order, Network as Letters, Object, Ticket};
use report::FailureKind;
use std::panic::Location;

/// The reaction to a possible mistake.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Policy {
    /// The mistake is ignored.
    #[default]
    Allow,
    /// The report mentions the mistake.
    Warn,
    /// The mistake is a bug.
    Fail,
}

/// The model's state of a mailbox.
#[derive(Clone, Default)]
pub(crate) struct State {
    pub(crate) order: Order,
    pub(crate) object: Option<ObjectId>,
    /// The name of the process.
    owner: String,
    /// The process, once it runs.
    pub(crate) thread: Option<ThreadId>,
    /// The reaction to letters that were not received by the end of the execution.
    left: Policy,
}

impl State {
    fn clear(&mut self) {
        self.order.clear();
        self.owner.clear();
        self.thread = None;
    }
}

impl Engine {
    /// Handles a possible mistake of a thread as the policy demands.
    fn apply_policy(&mut self, policy: Policy, kind: FailureKind, message: String) {
        match policy {
            Policy::Allow => {}
            Policy::Warn => self.warn(message),
            Policy::Fail => {
                self.guests.recorder.mark_failed();
                let location = Some(self.thread().life.location.to_string());
                self.guests.failures.push(Shown {
                    kind,
                    message,
                    location,
                    event: Some(self.event()),
                });
            }
        }
    }

    fn warn(&self, message: String) {
        self.guests.warnings.borrow_mut().insert(message);
    }

    /// Returns the failure for letters that were not received by the end of the execution, or
    /// `None` if no policy makes them a bug. Adds the warnings for such letters.
    pub(crate) fn left_letters(&self) -> Option<Shown> {
        let mailboxes = || self.life.objects.mailboxes.iter();
        let left = |policy: Policy| mailboxes().filter(move |mailbox| mailbox.left == policy);
        left(Policy::Warn)
            .filter_map(State::left_letters)
            .for_each(|message| self.warn(message));
        let messages: Vec<String> = left(Policy::Fail).filter_map(State::left_letters).collect();
        (!messages.is_empty()).then(|| Shown {
            kind: FailureKind::UnhandledMessage,
            message: messages.join("; "),
            location: None,
            event: None,
        })
    }
}

impl State {
    fn left_letters(&self) -> Option<String> {
        let owner = &self.owner;
        match self.order.unreceived().count() {
            0 => None,
            1 => Some(format!("a message to {owner} was never received")),
            count => Some(format!("{count} messages to {owner} were never received")),
        }
    }
}

/// The mailbox of a process.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Mailbox {
    object: ObjectId,
    number: u32,
}

impl Mailbox {
    /// Creates the empty mailbox of a process with this name. `left` is the reaction to letters
    /// that remain in it at the end.
    #[track_caller]
    pub fn new(name: &str, left: Policy) -> Mailbox {
        let location = Location::caller();
        silently(|engine| {
            engine.forgo_comparing();
            let object = engine.create(Order::PARTS);
            engine.name_object(object, &format!("mailbox of {name}"), location);
            let mailboxes = &mut engine.life.objects.mailboxes;
            let number = mailboxes.add(State::clear, State::default);
            let state = mailboxes.get_mut(number);
            state.object = Some(object);
            state.left = left;
            state.owner.push_str(name);
            Mailbox { object, number }
        })
    }

    /// Returns the id of the object, which is the same in all executions.
    pub fn object(&self) -> ObjectId {
        self.object
    }

    /// Returns the path of the running thread in the tree of spawns, and how many objects it has
    /// created. This is called where a mailbox is created. The result is the same in all processes
    /// of a check, so it provides an order of mailboxes that does not depend on the schedule.
    pub fn birth() -> (Vec<u32>, u32) {
        silently(|engine| {
            let path = engine.names.path(engine.running);
            (path, engine.thread().named().1)
        })
    }

    /// Makes the current thread the process with this mailbox.
    pub fn belongs_here(&self) {
        silently(|engine| {
            let thread = engine.running;
            engine.life.objects.mailboxes.get_mut(self.number).thread = Some(thread);
        });
    }

    /// Applies the policy, because the letter that the current event delivered came too late.
    pub fn came_too_late(&self, policy: Policy, message: impl FnOnce() -> String) {
        silently(|engine| engine.apply_policy(policy, FailureKind::DeadLetter, message()));
    }

    /// Sends a letter that arrives at once. Returns its position, or `None` if the mailbox is
    /// closed.
    #[track_caller]
    pub fn send(&self, text: impl FnOnce() -> String) -> Option<usize> {
        self.arrive(Order::SEND, text)
    }

    #[track_caller]
    fn arrive(&self, form: Form, text: impl FnOnce() -> String) -> Option<usize> {
        let location = place(Location::caller());
        perform(form.on(self.object), location, |engine| {
            let event = engine.event();
            if engine.watch.races {
                engine.guests.happens_before.leave(engine.running, event);
            }
            engine.record(|_| text());
            if let Some(to) = engine.life.objects.mailboxes.get(self.number).thread {
                engine.guests.recorder.record_arrival(to);
            }
            let order = &mut engine.life.objects.mailboxes.get_mut(self.number).order;
            (!order.is_closed()).then(|| order.arrive(event))
        })
    }

    /// Waits until there is a letter at this position.
    #[track_caller]
    pub fn wait(&self, position: usize) {
        let wait = Wait::Letter(self.number, position);
        let op = Order::WAIT.on(self.object);
        perform::wait(op, wait, place(Location::caller()), |_| ());
    }

    /// Returns the number of letters that have arrived so far.
    #[track_caller]
    pub fn count(&self) -> usize {
        perform(Order::COUNT.on(self.object), Location::caller(), |engine| {
            let count = engine.life.objects.mailboxes.get(self.number).order.count();
            engine.see(Seen::Letters(self.number, count));
            count
        })
    }

    /// Receives the letter at this position, which the current process has waited for or observed.
    pub fn receive(&self, position: usize) {
        silently(|engine| {
            let mut edges = Vec::new();
            let order = &mut engine.life.objects.mailboxes.get_mut(self.number).order;
            order.receive(position);
            order.edges(position, &mut edges);
            for &arrival in &edges {
                engine.guests.recorder.record_receipt(arrival);
            }
            engine.synchronize_with(&edges);
            engine.take_effect();
        });
    }

    /// Marks the letter that the current event delivered at this position as one that need not be
    /// received.
    pub fn excuse(&self, position: usize) {
        silently(|engine| {
            engine
                .life
                .objects
                .mailboxes
                .get_mut(self.number)
                .order
                .receive(position)
        });
    }

    /// Closes the mailbox: letters come too late from now on.
    #[track_caller]
    pub fn close(&self) {
        let location = place(Location::caller());
        perform(Order::CLOSE.on(self.object), location, |engine| {
            engine
                .life
                .objects
                .mailboxes
                .get_mut(self.number)
                .order
                .close();
        });
    }
}

/// Describes the current event for users. The description is not an event.
pub fn describe(text: impl FnOnce() -> String) {
    silently(|engine| engine.record(|_| text()));
}

/// Describes for users the contents of the object `whole` after the current event, if this event
/// accesses `part` of the object. The description is not an event.
pub fn report_contents(whole: ObjectId, part: ObjectId, text: impl FnOnce() -> String) {
    silently(|engine| {
        if engine.watch.records && engine.op.object == part {
            engine.record_stock(whole, text());
        }
    });
}

/// The network of a system of processes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Network {
    object: ObjectId,
    number: u32,
}

/// A letter in transit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Posted {
    network: Network,
    ticket: Ticket,
}

impl Network {
    /// Creates a network without letters.
    pub fn new(delivery: Delivery) -> Network {
        silently(|engine| {
            engine.forgo_comparing();
            let object = engine.create(Letters::PARTS);
            let number = engine.life.objects.networks.create(delivery);
            Network { object, number }
        })
    }

    /// Makes the network's state a part of the execution's state: see [`crate::report_state_of`].
    pub fn report_state(&self) {
        crate::report_state_of(self.object, || ());
    }

    /// Sends a letter of the current thread to the process with this mailbox. This is not an event.
    pub fn post(&self, to: &Mailbox) -> Posted {
        let ticket = self.with(|letters, thread| letters.post(thread, to.object));
        Posted {
            network: *self,
            ticket,
        }
    }

    /// Records that the current thread has started another thread. With causal delivery, the child
    /// inherits the causal past of the current thread's letters. This is not an event.
    pub fn spawned(&self, child: ThreadId) {
        self.with(|letters, parent| letters.spawn(parent, child));
    }

    fn with<R>(&self, change: impl FnOnce(&mut Letters, ThreadId) -> R) -> R {
        silently(|engine: &mut Engine| {
            let thread = engine.running;
            change(engine.life.objects.networks.get_mut(self.number), thread)
        })
    }
}

impl Posted {
    /// Describes the current event, which sends the letter, for users. The description is not an
    /// event.
    pub fn sent(&self, text: impl FnOnce() -> String) {
        silently(|engine| {
            engine.record(|_| text());
            let event = engine.event();
            if engine.watch.records {
                engine.guests.recorder.record_send(self.key(), event);
            }
        });
    }

    /// Waits until the letter may arrive.
    #[track_caller]
    pub fn wait(&self) {
        if self
            .network
            .with(|letters, _| letters.is_restricted(self.ticket))
        {
            let wait = Wait::Network(self.network.number, self.ticket);
            let op = Letters::WAIT.on(self.network.object);
            perform::wait(op, wait, place(Location::caller()), |_| ());
        }
    }

    /// Delivers the letter: the step of the network. Returns its position like [`Mailbox::send`].
    #[track_caller]
    pub fn deliver(&self, to: &Mailbox, text: impl FnOnce() -> String) -> Option<usize> {
        let position = to.arrive(Order::DELIVER, text);
        silently(|engine| engine.guests.recorder.record_delivery(self.key()));
        self.arrived();
        position
    }

    /// Records that the current event delivered the letter, or discarded it.
    pub fn arrived(&self) {
        silently(|engine| {
            let event = engine.event();
            let letters = engine.life.objects.networks.get_mut(self.network.number);
            letters.deliver(self.ticket, event);
            engine.poll(self.network.object);
        });
    }

    /// Records that the current process received the letter. With causal delivery, the process gets
    /// the letter's causal past. This is not an event.
    pub fn received(&self) {
        self.network
            .with(|letters, process| letters.receive(process, self.ticket));
        silently(|engine| engine.guests.recorder.record_origin(self.key()));
    }

    /// Returns the identity of the letter, if it matters after the arrival: see [`Letters::name`].
    pub fn name(&self) -> Option<(ThreadId, u32)> {
        self.network.with(|letters, _| letters.name(self.ticket))
    }

    fn key(&self) -> (u32, Ticket) {
        (self.network.number, self.ticket)
    }
}
