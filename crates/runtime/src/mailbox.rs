//! Mailboxes of processes, and the network that brings letters to them.
//!
//! Only the order of the letters is here. Whoever sends and receives keeps the letters by their
//! position, and says what they are where an execution is shown to people.

use crate::engine::Engine;
use crate::perform::{self, perform, silently};
use crate::seen::Seen;
use crate::thread::place;
use crate::trace::Shown;
use crate::waiting::Wait;
use explore::{ObjectId, ThreadId};
use objects::{Delivery, Form, Mailbox as Order, Network as Letters, Ticket};
use report::FailureKind;
use std::panic::Location;

/// What is to happen where something is noticed that may be a mistake.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Policy {
    /// Nothing.
    #[default]
    Allow,
    /// The report mentions it.
    Warn,
    /// It is a bug.
    Fail,
}

/// A mailbox as the model has it.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) order: Order,
    pub(crate) object: Option<ObjectId>,
    /// The name of the process.
    owner: String,
    /// The process, once it runs.
    pub(crate) thread: Option<ThreadId>,
    /// What is to happen if a letter is left.
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
    /// A thread noticed something that may be a mistake.
    fn notice(&mut self, policy: Policy, kind: FailureKind, message: String) {
        match policy {
            Policy::Allow => {}
            Policy::Warn => self.warn(message),
            Policy::Fail => {
                self.recorder.mark_failed();
                let location = Some(self.thread().location.to_string());
                self.failures.push(Shown {
                    kind,
                    message,
                    location,
                    event: Some(self.event()),
                });
            }
        }
    }

    fn warn(&self, message: String) {
        self.warnings.borrow_mut().insert(message);
    }

    /// The execution is over: letters that nobody received.
    pub(crate) fn left_letters(&self) -> Option<Shown> {
        let mailboxes = || self.objects.mailboxes.iter();
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
    /// The empty mailbox of a process with this name, and what is to happen if a letter is left in it at
    /// the end.
    #[track_caller]
    pub fn new(name: &str, left: Policy) -> Mailbox {
        let location = Location::caller();
        silently(|engine| {
            engine.forgo_comparing();
            let object = engine.create(Order::PARTS);
            engine.name_object(object, &format!("mailbox of {name}"), location);
            let mailboxes = &mut engine.objects.mailboxes;
            let number = mailboxes.add(State::clear, State::default);
            let state = mailboxes.get_mut(number);
            state.object = Some(object);
            state.left = left;
            state.owner.push_str(name);
            Mailbox { object, number }
        })
    }

    /// The name of the object, the same in all executions.
    pub fn object(&self) -> ObjectId {
        self.object
    }

    /// Who made the mailbox, as a spawn path, and after how many objects: asked where it was made. The same in
    /// all processes of the system that checks, so that mailboxes have an order which no schedule decides.
    pub fn birth() -> (Vec<u32>, u32) {
        silently(|engine| {
            let path = engine.names.path(engine.running);
            (path, engine.thread().named().1)
        })
    }

    /// The thread at hand is the process with this mailbox.
    pub fn belongs_here(&self) {
        silently(|engine| {
            let thread = engine.running;
            engine.objects.mailboxes.get_mut(self.number).thread = Some(thread);
        });
    }

    /// The letter that the event at hand brought came too late.
    pub fn came_too_late(&self, policy: Policy, message: impl FnOnce() -> String) {
        silently(|engine| engine.notice(policy, FailureKind::DeadLetter, message()));
    }

    /// Sends a letter that is there at once; gives its position, none if it comes too late.
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
                engine.happens_before.leave(engine.running, event);
            }
            engine.record(|_| text());
            if let Some(to) = engine.objects.mailboxes.get(self.number).thread {
                engine.recorder.note_arrival(to);
            }
            let order = &mut engine.objects.mailboxes.get_mut(self.number).order;
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

    /// Looks how many letters there are.
    #[track_caller]
    pub fn look(&self) -> usize {
        perform(Order::LOOK.on(self.object), Location::caller(), |engine| {
            let count = engine.objects.mailboxes.get(self.number).order.count();
            engine.see(Seen::Letters(self.number, count));
            count
        })
    }

    /// The process at hand receives the letter at this position, which it has waited for or seen.
    pub fn receive(&self, position: usize) {
        silently(|engine| {
            let mut edges = Vec::new();
            let order = &mut engine.objects.mailboxes.get_mut(self.number).order;
            order.receive(position);
            order.edges(position, &mut edges);
            for &arrival in &edges {
                engine.recorder.note_receipt(arrival);
            }
            if engine.watch.races {
                engine.happens_before.take_up(engine.running, &edges);
            }
            engine.take_effect();
        });
    }

    /// The letter at this position, which the event at hand brought, need not be received.
    pub fn excuse(&self, position: usize) {
        silently(|engine| {
            engine
                .objects
                .mailboxes
                .get_mut(self.number)
                .order
                .receive(position)
        });
    }

    /// Letters come too late from now on.
    #[track_caller]
    pub fn close(&self) {
        let location = place(Location::caller());
        perform(Order::CLOSE.on(self.object), location, |engine| {
            engine.objects.mailboxes.get_mut(self.number).order.close();
        });
    }
}

/// Says what the event at hand does, for people. No event.
pub fn tell(text: impl FnOnce() -> String) {
    silently(|engine| engine.record(|_| text()));
}

/// Says what an object has in it after the event at hand, for people. Only if the event is at `part` of the object. No event.
pub fn tell_contents(whole: ObjectId, part: ObjectId, text: impl FnOnce() -> String) {
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

/// A letter under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Posted {
    network: Network,
    ticket: Ticket,
}

impl Network {
    /// A network without letters.
    pub fn new(delivery: Delivery) -> Network {
        silently(|engine| {
            engine.forgo_comparing();
            let object = engine.create(Letters::PARTS);
            let networks = &mut engine.objects.networks;
            let clear = |letters: &mut Letters| letters.clear(delivery);
            let number = networks.add(clear, || Letters::new(delivery));
            Network { object, number }
        })
    }

    /// The network tells its state, as a part of that of the execution: see [`crate::tell_state_of`].
    pub fn tell_state(&self) {
        crate::tell_state_of(self.object, || ());
    }

    /// The thread at hand sends a letter to the process with this mailbox. No event.
    pub fn post(&self, to: &Mailbox) -> Posted {
        let ticket = self.with(|letters, thread| letters.post(thread, to.object));
        Posted {
            network: *self,
            ticket,
        }
    }

    /// The thread at hand has started another, which knows what it knows. No event.
    pub fn spawned(&self, child: ThreadId) {
        self.with(|letters, parent| letters.spawn(parent, child));
    }

    fn with<R>(&self, change: impl FnOnce(&mut Letters, ThreadId) -> R) -> R {
        silently(|engine: &mut Engine| {
            let thread = engine.running;
            change(engine.objects.networks.get_mut(self.number), thread)
        })
    }
}

impl Posted {
    /// The event at hand is the one that sends the letter: says what it does, for people. No event.
    pub fn sent(&self, text: impl FnOnce() -> String) {
        silently(|engine| {
            engine.record(|_| text());
            let event = engine.event();
            if engine.watch.records {
                engine.recorder.note_send(self.key(), event);
            }
        });
    }

    /// Waits until the letter may come in.
    #[track_caller]
    pub fn wait(&self) {
        if self
            .network
            .with(|letters, _| letters.is_restricted(self.ticket))
        {
            let wait = Wait::Delivery(self.network.number, self.ticket);
            let op = Letters::WAIT.on(self.network.object);
            perform::wait(op, wait, place(Location::caller()), |_| ());
        }
    }

    /// Brings the letter in: the step of the network. Gives its position as [`Mailbox::send`] does.
    #[track_caller]
    pub fn deliver(&self, to: &Mailbox, text: impl FnOnce() -> String) -> Option<usize> {
        let position = to.arrive(Order::DELIVER, text);
        silently(|engine| engine.recorder.note_delivery(self.key()));
        self.arrived();
        position
    }

    /// The letter has come in, or to nothing, by the event at hand.
    pub fn arrived(&self) {
        silently(|engine| {
            let event = engine.event();
            let letters = engine.objects.networks.get_mut(self.network.number);
            letters.deliver(self.ticket, event);
            engine.poll(self.network.object);
        });
    }

    /// The process at hand received the letter: it knows now what the sender knew. No event.
    pub fn received(&self) {
        self.network
            .with(|letters, process| letters.receive(process, self.ticket));
        silently(|engine| engine.recorder.note_origin(self.key()));
    }

    /// Which letter it is, where that matters once it has come in: see [`Letters::name`].
    pub fn name(&self) -> Option<(ThreadId, u32)> {
        self.network.with(|letters, _| letters.name(self.ticket))
    }

    fn key(&self) -> (u32, Ticket) {
        (self.network.number, self.ticket)
    }
}
