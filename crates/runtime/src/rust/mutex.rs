//! Mutexes without data and without poison.

use crate::engine::Engine;
use crate::engine::perform::{self, perform, silently};
use crate::engine::place::Place;
use crate::engine::waiting::Wait;
use crate::rust::settle::Inborn;
use crate::watch::seen::Seen;
use crate::watch::undone::Hold;
use explore::{Bound, EventId, Halt, ObjectId, ThreadId};
use objects::{Condition, Ticket};
use std::panic::Location;

/// A mutex whose holder the model tracks. The mirror handles the guarded data and the poison.
#[derive(Clone, Copy, Debug)]
pub struct Mutex {
    pub(crate) object: ObjectId,
    pub(crate) number: u32,
}

/// The model's state of a mutex.
#[derive(Clone, Default)]
pub(crate) struct State {
    pub(crate) order: objects::Mutex,
    /// The thread that has finished its wait, and its place.
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
        self.life.objects.mutexes.get_mut(mutex).held = Some((self.running, ticket));
        self.takes(Hold::Mutex(mutex, ticket));
        if self.life.objects.mutexes.get(mutex).order.condition() == Condition::OwnerEnded {
            self.record(|name| format!("{name}: lock() acquired, its owner has ended"));
        }
        if self.watch.races {
            let mut edges = std::mem::take(&mut self.edges);
            let start = edges.len();
            self.life
                .objects
                .mutexes
                .get(mutex)
                .order
                .edges(ticket, &mut edges);
            self.guests
                .happens_before
                .take_up(self.running, &edges[start..]);
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
        reason = "each object starts with this value"
    )]
    const REAL: Self::Real = enforce::blocking::Mutex::new();

    fn begin(object: ObjectId, (): (), location: Place) -> Mutex {
        silently(|engine| Mutex::named(engine, object, location))
    }
}

impl Mutex {
    /// Creates the mutex of a native program at this address.
    pub(crate) fn at(engine: &mut Engine, address: usize) -> Mutex {
        let object = engine
            .names
            .object_at(address as u64, objects::Mutex::PARTS);
        engine.name_object_at(object, address, 40);
        let number = engine
            .life
            .objects
            .mutexes
            .add(State::clear, State::default);
        Mutex { object, number }
    }

    /// Creates a mutex of the execution.
    #[allow(clippy::new_without_default, reason = "`new` needs a model")]
    #[track_caller]
    pub fn new() -> Mutex {
        let location = Location::caller();
        silently(|engine| {
            let object = engine.create(objects::Mutex::PARTS);
            Mutex::named(engine, object, location)
        })
    }

    /// Creates a mutex for an object that already has its id.
    fn named(engine: &mut Engine, object: ObjectId, location: Place) -> Mutex {
        engine.name_object(object, "Mutex", location);
        let number = engine
            .life
            .objects
            .mutexes
            .add(State::clear, State::default);
        Mutex { object, number }
    }

    /// Waits for the mutex.
    // Numbers of places and events differ from round to round, so they must not lie in a frame of
    // the program (await rule).
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
                    .life
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

    /// Takes the mutex if no thread holds it.
    // Numbers of places and events must not lie in a frame of the program; see `lock`.
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
                    .life
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
                    .life
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

    /// Waits for the mutex with a time limit. Returns whether the thread got the mutex.
    #[track_caller]
    pub fn lock_timed(&self) -> bool {
        let is_granted = self.try_lock();
        if !is_granted {
            expire();
        }
        is_granted
    }

    /// Releases the mutex, which the thread holds.
    // Numbers of places and events must not lie in a frame of the program; see `lock`.
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

    /// Abandons the mutex, because the thread that holds it ends. The next holder observes this.
    #[track_caller]
    pub fn abandon(&self) {
        perform(
            objects::Mutex::UNLOCK.on(self.object),
            Location::caller(),
            |engine| {
                engine.leave_mutex(self.number, objects::Mutex::abandon);
                engine.record(|name| {
                    format!("{name} stays locked, since the thread that holds it ends")
                });
            },
        );
    }

    /// Returns the condition of the mutex for a thread that has just taken the mutex or failed to
    /// take it.
    pub fn condition(&self) -> Condition {
        silently(|engine| {
            engine
                .life
                .objects
                .mutexes
                .get(self.number)
                .order
                .condition()
        })
    }

    /// Marks the data that the mutex guards as repaired by the holder. Returns false if there was
    /// nothing to repair.
    pub fn repair(&self) -> bool {
        silently(|engine| {
            let mutex = engine.life.objects.mutexes.get_mut(self.number);
            mutex.order.repair()
        })
    }
}

impl Engine {
    /// Releases the mutex for the running thread.
    pub(crate) fn unlock(&mut self, mutex: u32) {
        self.leave_mutex(mutex, objects::Mutex::unlock);
    }

    fn leave_mutex(&mut self, mutex: u32, leave: fn(&mut objects::Mutex, Ticket, EventId)) {
        let (thread, event) = (self.running, self.event());
        let state = self.life.objects.mutexes.get_mut(mutex);
        let Some((_, ticket)) = state.held.take_if(|&mut (holder, _)| holder == thread) else {
            return self.misuse("a mutex is unlocked by a thread that does not hold it");
        };
        self.gives_back(Hold::Mutex(mutex, ticket));
        let state = self.life.objects.mutexes.get_mut(mutex);
        leave(&mut state.order, ticket, event);
        if self.watch.races {
            self.guests.happens_before.leave(thread, event);
        }
    }
}

/// Counts an expired timed operation of the thread. Halts the thread if it exceeds the limit.
pub fn expire() {
    if silently(Engine::expire) {
        perform::halt(Halt::Bound(Bound::Timeouts));
    }
}
