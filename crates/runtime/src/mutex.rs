//! Mutexes, without data and without poison.

use crate::engine::Engine;
use crate::perform::{self, perform, silently};
use crate::seen::Seen;
use crate::settle::Inborn;
use crate::source::Place;
use crate::undone::Hold;
use crate::waiting::Wait;
use explore::{Bound, EventId, Halt, ObjectId, ThreadId};
use objects::{Condition, Ticket};
use std::panic::Location;

/// Who holds a mutex is known; what it guards and whether it is poisoned is the mirror's business.
#[derive(Clone, Copy, Debug)]
pub struct Mutex {
    pub(crate) object: ObjectId,
    pub(crate) number: u32,
}

/// A mutex of the execution.
#[derive(Clone, Default)]
pub(crate) struct State {
    pub(crate) order: objects::Mutex,
    /// The thread that has come through its wait, and its place.
    held: Option<(ThreadId, Ticket)>,
}

impl State {
    fn clear(&mut self) {
        self.order.clear();
        self.held = None;
    }
}

impl Engine {
    fn hold(&mut self, mutex: u32, ticket: Ticket) {
        self.objects.mutexes.get_mut(mutex).held = Some((self.running, ticket));
        self.takes(Hold::Mutex(mutex, ticket));
        if self.objects.mutexes.get(mutex).order.condition() == Condition::OwnerEnded {
            self.record(|name| format!("{name}: lock() acquired, its owner has ended"));
        }
        if self.watch.races {
            let mut edges = std::mem::take(&mut self.edges);
            let start = edges.len();
            self.objects
                .mutexes
                .get(mutex)
                .order
                .edges(ticket, &mut edges);
            self.happens_before.take_up(self.running, &edges[start..]);
            edges.truncate(start);
            self.edges = edges;
        }
    }
}

impl Inborn for Mutex {
    type Size = ();

    const PARTS: u32 = objects::Mutex::PARTS;

    #[cfg(feature = "enforce")]
    type Real = enforce::blocking::Mutex;

    #[cfg(feature = "enforce")]
    #[allow(
        clippy::declare_interior_mutable_const,
        reason = "each object begins with it"
    )]
    const REAL: Self::Real = enforce::blocking::Mutex::new();

    fn begin(object: ObjectId, (): (), location: Place) -> Mutex {
        silently(|engine| Mutex::named(engine, object, location))
    }
}

impl Mutex {
    /// The mutex of a native program at this address.
    pub(crate) fn at(engine: &mut Engine, address: usize) -> Mutex {
        let object = engine
            .names
            .object_at(address as u64, objects::Mutex::PARTS);
        engine.name_object_at(object, address, 40);
        let number = engine.objects.mutexes.add(State::clear, State::default);
        Mutex { object, number }
    }

    /// A new mutex of the execution.
    #[allow(clippy::new_without_default, reason = "it needs a model")]
    #[track_caller]
    pub fn new() -> Mutex {
        let location = Location::caller();
        silently(|engine| {
            let object = engine.create(objects::Mutex::PARTS);
            Mutex::named(engine, object, location)
        })
    }

    /// One at an object that has its id already.
    fn named(engine: &mut Engine, object: ObjectId, location: Place) -> Mutex {
        engine.name_object(object, "Mutex", location);
        let number = engine.objects.mutexes.add(State::clear, State::default);
        Mutex { object, number }
    }

    /// Waits for the mutex.
    // Numbers of places and events differ from round to round: they must not lie in a frame of the program (await rule).
    #[inline(never)]
    #[track_caller]
    pub fn lock(&self) {
        let location = Location::caller();
        let ticket = perform(
            objects::Mutex::REQUEST.on(self.object),
            location,
            |engine| {
                let thread = engine.running;
                engine
                    .objects
                    .mutexes
                    .get_mut(self.number)
                    .order
                    .request(thread)
            },
        );
        let wait = Wait::Mutex(self.number, ticket);
        perform::wait(
            objects::Mutex::WAIT.on(self.object),
            wait,
            location,
            |engine| {
                engine.hold(self.number, ticket);
            },
        );
    }

    /// Takes the mutex if nobody holds it.
    // Numbers of places and events differ from round to round: they must not lie in a frame of the program (await rule).
    #[inline(never)]
    #[track_caller]
    pub fn try_lock(&self) -> bool {
        let location = Location::caller();
        let ticket = perform(
            objects::Mutex::TRY_PLACE.on(self.object),
            location,
            |engine| {
                let thread = engine.running;
                engine
                    .objects
                    .mutexes
                    .get_mut(self.number)
                    .order
                    .request(thread)
            },
        );
        perform(
            objects::Mutex::TRY_RESULT.on(self.object),
            location,
            |engine| {
                let is_granted = engine
                    .objects
                    .mutexes
                    .get_mut(self.number)
                    .order
                    .resolve(ticket);
                if is_granted {
                    engine.hold(self.number, ticket);
                } else {
                    engine.see(Seen::Locked(self.number));
                }
                engine.record(|name| format!("{name}.try_lock() -> {is_granted}"));
                is_granted
            },
        )
    }

    /// Waits for the mutex for some time; whether it was got.
    #[track_caller]
    pub fn lock_timed(&self) -> bool {
        let is_granted = self.try_lock();
        if !is_granted {
            expire();
        }
        is_granted
    }

    /// Gives up the mutex, which the thread holds.
    // Numbers of places and events differ from round to round: they must not lie in a frame of the program (await rule).
    #[inline(never)]
    #[track_caller]
    pub fn unlock(&self) {
        perform(
            objects::Mutex::UNLOCK.on(self.object),
            Location::caller(),
            |engine| {
                engine.unlock(self.number);
            },
        );
    }

    /// The thread, which holds the mutex, ends: whoever is next learns of that.
    #[track_caller]
    pub fn abandon(&self) {
        perform(
            objects::Mutex::UNLOCK.on(self.object),
            Location::caller(),
            |engine| {
                engine.leave_mutex(self.number, objects::Mutex::abandon);
                engine.record(|name| format!("{name} is left locked by a thread that ends"));
            },
        );
    }

    /// What the thread that has taken the mutex finds, or one that has just failed to.
    pub fn condition(&self) -> Condition {
        silently(|engine| engine.objects.mutexes.get(self.number).order.condition())
    }

    /// The thread, which holds the mutex, has repaired what it guards; false if there was nothing to repair.
    pub fn repair(&self) -> bool {
        silently(|engine| {
            let mutex = engine.objects.mutexes.get_mut(self.number);
            mutex.order.repair()
        })
    }
}

impl Engine {
    /// The thread that runs gives up the mutex.
    pub(crate) fn unlock(&mut self, mutex: u32) {
        self.leave_mutex(mutex, objects::Mutex::unlock);
    }

    fn leave_mutex(&mut self, mutex: u32, leave: fn(&mut objects::Mutex, Ticket, EventId)) {
        let (thread, event) = (self.running, self.event());
        let state = self.objects.mutexes.get_mut(mutex);
        let Some((_, ticket)) = state.held.take_if(|&mut (holder, _)| holder == thread) else {
            return self.misuse("a mutex is unlocked by a thread that does not hold it");
        };
        self.gives_back(Hold::Mutex(mutex, ticket));
        let state = self.objects.mutexes.get_mut(mutex);
        leave(&mut state.order, ticket, event);
        if self.watch.races {
            self.happens_before.leave(thread, event);
        }
    }
}

/// A timed operation of the thread expired; one time too many, and the thread halts.
pub fn expire() {
    if silently(Engine::expire) {
        perform::halt(Halt::Bound(Bound::Timeouts));
    }
}
