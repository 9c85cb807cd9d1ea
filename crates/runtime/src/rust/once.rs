//! One-time initialization.

use crate::engine::Engine;
use crate::engine::perform::{self, perform, silently};
use crate::engine::place::Place;
use crate::rust::mirror::mirror;
use crate::rust::pools::Wait;
use crate::watch::seen::Seen;
use explore::ObjectId;
use objects::{Once as Order, OnceWait};
use std::panic::Location;

/// A one-time initialization: the first thread initializes, and the other threads wait for it.
#[derive(Clone, Copy, Debug)]
pub struct Once {
    pub(crate) object: ObjectId,
    number: u32,
}

/// The task of a thread that entered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entry {
    /// The thread must initialize, and then call `done` or `fail`.
    Initialize {
        /// Whether an earlier initializer failed.
        after_failure: bool,
    },
    /// The thread has no task, because the initialization is done.
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
    /// Enters, and waits for the initializer if there is one. Returns what the thread must do.
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
            match order.is_initializer(ticket) {
                true => Entry::Initialize {
                    after_failure: order.has_failed(),
                },
                false => Entry::Done,
            }
        })
    }

    /// Waits until another thread has initialized. Returns false if the initialization fails or has
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

    /// Waits until another thread has initialized, even if earlier initializers fail.
    #[track_caller]
    pub fn wait_force(&self) {
        self.wait_for(u32::MAX, Location::caller());
    }

    fn wait_for(&self, failures: u32, location: Place) {
        let wait = Wait::Once(self.number, OnceWait::Failures(failures));
        perform::wait(Order::WAIT.on(self.object), wait, location, |_| ());
    }

    /// Ends the initialization that this thread performed.
    #[track_caller]
    pub fn done(&self) {
        perform(Order::DONE.on(self.object), Location::caller(), |engine| {
            let event = engine.event();
            self.order(engine).finish(event);
            engine.may_grant(event);
        });
    }

    /// Records that the initialization failed. The next thread that enters, or has entered and
    /// waits, becomes the initializer.
    #[track_caller]
    pub fn fail(&self) {
        perform(Order::DONE.on(self.object), Location::caller(), |engine| {
            let event = engine.event();
            self.order(engine).fail(event);
            engine.may_grant(event);
            engine.record(|name| format!("{name}: the initialization failed"));
        });
    }

    /// Checks whether the initialization is done, without waiting.
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
