//! One-time initialisation.

use crate::engine::Engine;
use crate::engine::perform::{self, perform, silently};
use crate::engine::place::Place;
use crate::engine::waiting::Wait;
use crate::rust::settle::Inborn;
use crate::watch::seen::Seen;
use explore::{EventId, ObjectId};
use objects::Once as Order;
use std::panic::Location;

/// A one-time initialisation: the first thread initialises, and the other threads wait for it.
#[derive(Clone, Copy, Debug)]
pub struct Once {
    pub(crate) object: ObjectId,
    number: u32,
}

/// The model's state of a once.
#[derive(Clone, Default)]
pub(crate) struct State {
    pub(crate) order: Order,
    done: Option<EventId>,
}

impl State {
    fn clear(&mut self) {
        self.order.clear();
        self.done = None;
    }
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

impl Inborn for Once {
    type Size = ();

    const PARTS: u32 = Order::PARTS;

    #[cfg(feature = "enforce")]
    type Real = enforce::blocking::Once;

    #[cfg(feature = "enforce")]
    #[allow(
        clippy::declare_interior_mutable_const,
        reason = "each object starts with this value"
    )]
    const REAL: Self::Real = enforce::blocking::Once::new();

    fn begin(object: ObjectId, (): (), location: Place) -> Once {
        silently(|engine| Once::named(engine, object, location))
    }
}

impl Once {
    /// Creates the once of a native program at this address.
    pub(crate) fn at(engine: &mut Engine, address: usize) -> Once {
        let object = engine.names.object_at(address as u64, Order::PARTS);
        engine.name_object_at(object, address, 4);
        let number = engine.life.objects.onces.add(State::clear, State::default);
        Once { object, number }
    }

    /// Creates a once of the execution.
    #[allow(clippy::new_without_default, reason = "`new` needs a model")]
    #[track_caller]
    pub fn new() -> Once {
        let location = Location::caller();
        silently(|engine| {
            let object = engine.create(Order::PARTS);
            Once::named(engine, object, location)
        })
    }

    /// Creates a once for an object that already has its name.
    pub(crate) fn named(engine: &mut Engine, object: ObjectId, location: Place) -> Once {
        engine.name_object(object, "Once", location);
        let number = engine.life.objects.onces.add(State::clear, State::default);
        Once { object, number }
    }

    /// Enters the once. Waits for the initialiser if there is one.
    #[track_caller]
    pub fn enter(&self) -> Entry {
        let location = Location::caller();
        let ticket = perform(Order::ENTER.on(self.object), location, |engine| {
            let thread = engine.running;
            engine
                .life
                .objects
                .onces
                .get_mut(self.number)
                .order
                .enter(thread)
        });
        let wait = Wait::Once(self.number, ticket);
        perform::wait(Order::WAIT.on(self.object), wait, location, |_| ());
        silently(|engine| {
            let order = &engine.life.objects.onces.get(self.number).order;
            match order.is_initialiser(ticket) {
                true => Entry::Initialise {
                    after_failure: order.has_failed(),
                },
                false => Entry::Done,
            }
        })
    }

    /// Waits until another thread has initialised. Returns false if the initialisation failed.
    #[track_caller]
    pub fn wait(&self) -> bool {
        let location = Location::caller();
        let ask = |engine: &mut Engine| {
            let order = &engine.life.objects.onces.get(self.number).order;
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
        silently(|engine| {
            ask(engine).1 == failures || engine.life.objects.onces.get(self.number).order.is_done()
        })
    }

    /// Waits until another thread has initialised, even if other threads fail before.
    #[track_caller]
    pub fn wait_force(&self) {
        self.wait_for(usize::MAX, Location::caller());
    }

    fn wait_for(&self, failures: usize, location: Place) {
        let wait = Wait::OnceOver(self.number, failures);
        perform::wait(Order::WAIT.on(self.object), wait, location, |_| ());
    }

    /// Ends the initialisation that this thread performed.
    #[track_caller]
    pub fn done(&self) {
        perform(Order::DONE.on(self.object), Location::caller(), |engine| {
            let event = engine.event();
            let state = engine.life.objects.onces.get_mut(self.number);
            state.order.finish(event);
            state.done = Some(event);
            if engine.watch.races {
                engine.guests.happens_before.leave(engine.running, event);
            }
        });
    }

    /// Records that the initialisation failed. The next thread that enters or waits becomes the
    /// initialiser.
    #[track_caller]
    pub fn fail(&self) {
        perform(Order::DONE.on(self.object), Location::caller(), |engine| {
            let event = engine.event();
            engine
                .life
                .objects
                .onces
                .get_mut(self.number)
                .order
                .fail(event);
            if engine.watch.races {
                engine.guests.happens_before.leave(engine.running, event);
            }
            engine.record(|name| format!("{name}: the initialisation failed"));
        });
    }

    /// Checks whether the initialisation is done, without waiting.
    #[track_caller]
    pub fn is_done(&self) -> bool {
        perform(Order::GET.on(self.object), Location::caller(), |engine| {
            let done = engine.life.objects.onces.get(self.number).done;
            match done {
                Some(event) if engine.watch.races => {
                    engine
                        .guests
                        .happens_before
                        .take_up(engine.running, &[event]);
                }
                Some(_) => {}
                None => engine.see(Seen::NotDone(self.number)),
            }
            engine.record(|name| format!("{name}.is_completed() -> {}", done.is_some()));
            done.is_some()
        })
    }
}
