//! Mutexes without data and without poison.

use crate::engine::Engine;
use crate::engine::perform::{self, perform, silently};
use crate::rust::mirror::mirror;
use crate::rust::pools::Wait;
use crate::watch::seen::Seen;
use crate::watch::undone::Hold;
use explore::{Bound, EventId, Halt, ObjectId};
use objects::{Condition, Mutex as Order, Ticket};
use std::panic::Location;

/// A mutex whose holder the model tracks. The mirror handles the guarded data and the poison flag.
#[derive(Clone, Copy, Debug)]
pub struct Mutex {
    pub(crate) object: ObjectId,
    pub(crate) number: u32,
}

impl Engine {
    fn hold(&mut self, mutex: u32, ticket: Ticket) {
        self.takes(Hold::Mutex(mutex, ticket));
        if self.life.objects.mutexes.get(mutex).condition() == Condition::OwnerEnded {
            self.record(|name| format!("{name}: lock() acquired, its owner has ended"));
        }
        self.follows_grant(Wait::Mutex(mutex, ticket));
    }
}

mirror! {
    /// Creates a mutex of the execution.
    Mutex: Order,
    new() => (),
    at() => (), 40 bytes,
    real enforce::blocking::Mutex = enforce::blocking::Mutex::new(),
    |engine, object, number| {}
}

impl Mutex {
    /// Waits for the mutex.
    // Not inlined: the await rule compares the program's frames between the rounds of a loop, and
    // the numbers of places and events differ in each round.
    #[inline(never)]
    #[track_caller]
    pub fn lock(&self) {
        let location = Location::caller();
        let ticket = perform(Order::REQUEST.on(self.object), location, |engine| {
            let thread = engine.running;
            self.order(engine).request(thread)
        });
        let wait = Wait::Mutex(self.number, ticket);
        perform::wait(Order::WAIT.on(self.object), wait, location, |engine| {
            engine.hold(self.number, ticket);
        });
    }

    /// Takes the mutex if no thread holds it.
    // Not inlined, for the same reason as `lock`.
    #[inline(never)]
    #[track_caller]
    pub fn try_lock(&self) -> bool {
        let location = Location::caller();
        let ticket = perform(Order::TRY_PLACE.on(self.object), location, |engine| {
            let thread = engine.running;
            self.order(engine).request(thread)
        });
        perform(Order::TRY_RESULT.on(self.object), location, |engine| {
            let is_granted = self.order(engine).resolve(ticket);
            if is_granted {
                engine.hold(self.number, ticket);
            } else {
                engine.see(Seen::Locked(self.number));
            }
            engine.record(|name| format!("{name}.try_lock() -> {is_granted}"));
            is_granted
        })
    }

    /// Waits for the mutex with a time limit, which may expire at any time. Returns whether the
    /// thread got the mutex.
    #[track_caller]
    pub fn lock_timed(&self) -> bool {
        let is_granted = self.try_lock();
        if !is_granted {
            expire();
        }
        is_granted
    }

    /// Releases the mutex, which the thread holds.
    // Not inlined, for the same reason as `lock`.
    #[inline(never)]
    #[track_caller]
    pub fn unlock(&self) {
        perform(
            Order::UNLOCK.on(self.object),
            Location::caller(),
            |engine| {
                engine.unlock(self.number);
            },
        );
    }

    /// Abandons the mutex, because the running thread, which holds it, ends. The next holder
    /// observes this.
    #[track_caller]
    pub fn abandon(&self) {
        perform(
            Order::UNLOCK.on(self.object),
            Location::caller(),
            |engine| {
                engine.leave_mutex(self.number, Order::abandon);
                engine.record(|name| {
                    format!("{name} stays locked, since the thread that holds it ends")
                });
            },
        );
    }

    /// Checks whether a thread holds the mutex at this point of the execution, without an event.
    pub fn is_held(&self) -> bool {
        silently(|engine| self.order(engine).holder().is_some())
    }

    /// Returns the condition of the mutex for a thread that has just taken the mutex or failed to
    /// take it.
    pub fn condition(&self) -> Condition {
        silently(|engine| self.order(engine).condition())
    }

    /// Marks the data that the mutex guards as repaired by the holder. Returns false if there was
    /// nothing to repair.
    pub fn repair(&self) -> bool {
        silently(|engine| {
            engine.take_effect();
            self.order(engine).repair()
        })
    }
}

impl Engine {
    /// Releases the mutex for the running thread.
    pub(crate) fn unlock(&mut self, mutex: u32) {
        self.leave_mutex(mutex, Order::unlock);
    }

    fn leave_mutex(&mut self, mutex: u32, leave: fn(&mut Order, Ticket, EventId)) {
        let (thread, event) = (self.running, self.event());
        let Some(ticket) = self.life.objects.mutexes.get(mutex).place_of(thread) else {
            return self.misuse("a mutex is unlocked by a thread that does not hold it");
        };
        self.gives_back(Hold::Mutex(mutex, ticket));
        leave(self.life.objects.mutexes.get_mut(mutex), ticket, event);
        self.may_grant(event);
    }
}

/// Counts an expired timed operation of the running thread. Halts the thread, that is, stops it
/// permanently, if the count exceeds the limit of the configuration.
pub fn expire() {
    if silently(Engine::expire) {
        perform::halt(Halt::Bound(Bound::Timeouts));
    }
}
