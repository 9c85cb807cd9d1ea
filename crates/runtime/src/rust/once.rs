//! One-time initialisation.

use crate::engine::Engine;
use crate::engine::perform::{self, perform, silently};
use crate::engine::place::Place;
use crate::rust::mirror::mirror;
use crate::rust::pools::Wait;
use crate::watch::seen::Seen;
use explore::ObjectId;
use objects::{Once as Order, OnceWait};
use std::panic::Location;

/// A one-time initialisation: the first thread initialises, and the other threads wait for it.
#[derive(Clone, Copy, Debug)]
pub struct Once {
    pub(crate) object: ObjectId,
    number: u32,
}

/// The task of a thread that entered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entry {
    /// The thread must initialise, and then call `done` or `fail`.
    Initialise {
        /// Whether an earlier initialiser failed.
        after_failure: bool,
    },
    /// The thread has no task, because the initialisation is done.
    Done,
}

mirror! {
    /// Creates an object of the execution that no thread has entered.
    Once: Order,
    new() => (),
    at() => (), 4 bytes,
    real enforce::blocking::Once = enforce::blocking::Once::new(),
    |engine, object, number| {}
}

impl Once {
    /// Enters, and waits for the initialiser if there is one. Returns what the thread must do.
    #[track_caller]
    pub fn enter(&self) -> Entry {
        let location = Location::caller();
        let ticket = perform(Order::ENTER.on(self.object), location, |engine| {
            let thread = engine.running;
            self.order(engine).enter(thread)
        });
        let wait = Wait::Once(self.number, OnceWait::Entry(ticket));
        perform::wait(Order::WAIT.on(self.object), wait, location, |_| ());
        silently(|engine| {
            let order = self.order(engine);
            match order.is_initialiser(ticket) {
                true => Entry::Initialise {
                    after_failure: order.has_failed(),
                },
                false => Entry::Done,
            }
        })
    }

    /// Waits until another thread has initialised. Returns false if the initialisation fails or has
    /// failed.
    #[track_caller]
    pub fn wait(&self) -> bool {
        let location = Location::caller();
        let ask = |engine: &mut Engine| {
            let order = self.order(engine);
            (order.is_poisoned(), order.failures())
        };
        let get = Order::GET.on(self.object);
        let (is_poisoned, failures) = perform(get, location, |engine| {
            engine.record(|name| format!("{name}.wait() begins"));
            ask(engine)
        });
        if is_poisoned {
            return false;
        }
        self.wait_for(failures, location);
        silently(|engine| ask(engine).1 == failures || self.order(engine).is_done())
    }

    /// Waits until another thread has initialised, even if earlier initialisers fail.
    #[track_caller]
    pub fn wait_force(&self) {
        self.wait_for(u32::MAX, Location::caller());
    }

    fn wait_for(&self, failures: u32, location: Place) {
        let wait = Wait::Once(self.number, OnceWait::Failures(failures));
        perform::wait(Order::WAIT.on(self.object), wait, location, |_| ());
    }

    /// Ends the initialisation that this thread performed.
    #[track_caller]
    pub fn done(&self) {
        perform(Order::DONE.on(self.object), Location::caller(), |engine| {
            let event = engine.event();
            self.order(engine).finish(event);
            engine.may_grant(event);
        });
    }

    /// Records that the initialisation failed. The next thread that enters, or has entered and
    /// waits, becomes the initialiser.
    #[track_caller]
    pub fn fail(&self) {
        perform(Order::DONE.on(self.object), Location::caller(), |engine| {
            let event = engine.event();
            self.order(engine).fail(event);
            engine.may_grant(event);
            engine.record(|name| format!("{name}: the initialisation failed"));
        });
    }

    /// Checks whether the initialisation is done, without waiting.
    #[track_caller]
    pub fn is_done(&self) -> bool {
        perform(Order::GET.on(self.object), Location::caller(), |engine| {
            let done = self.order(engine).done();
            match done {
                Some(event) => engine.synchronize_with(&[event]),
                None => engine.see(Seen::NotDone(self.number)),
            }
            engine.record(|name| format!("{name}.is_completed() -> {}", done.is_some()));
            done.is_some()
        })
    }
}
