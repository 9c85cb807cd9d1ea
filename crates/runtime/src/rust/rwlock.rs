//! Reader-writer locks without data and without poison.

use crate::engine::Engine;
use crate::engine::perform::{self, perform, silently};
use crate::rust::mirror::mirror;
use crate::rust::pools::Wait;
use crate::watch::seen::Seen;
use crate::watch::undone::Hold;
use explore::{ObjectId, Pending, ThreadId};
use objects::{Coarsening, RwLock as Order, Ticket};
use std::panic::Location;

/// A reader-writer lock whose holders the model tracks.
#[derive(Clone, Copy, Debug)]
pub struct RwLock {
    pub(crate) object: ObjectId,
    number: u32,
    /// Whether try operations are known to be used.
    is_tried: bool,
    /// Whether readers may overtake waiting writers.
    prefers_readers: bool,
}

/// The right of a holder to read or to write, up to its [`release`](RwLock::release). The lock
/// itself stores the tickets of its holders.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    is_writer: bool,
}

impl Place {
    /// Checks whether this is a writer's place.
    pub fn is_writer(&self) -> bool {
        self.is_writer
    }

    pub(crate) fn of(is_writer: bool) -> Place {
        Place { is_writer }
    }
}

impl Engine {
    /// Checks whether a reader waits behind a waiting writer at a lock whose readers may overtake
    /// writers. This wait is not a deadlock, because another execution, in which the reader comes
    /// first, covers the case that the reader overtakes. In enforced programs, readers do not
    /// overtake, so the wait is a deadlock.
    pub(crate) fn is_passed_over(&self) -> bool {
        if self.config.conditions.is_enforceable {
            return false;
        }
        let is_waiting =
            |thread: ThreadId| matches!(self.life.pending[thread.index()], Pending::Waiting(_));
        let waits = self.started().iter().filter(|&&thread| is_waiting(thread));
        waits
            .filter_map(|&thread| self.wait_of(thread))
            .any(|wait| match wait {
                Wait::RwLock(lock, ticket) => {
                    let lock = self.life.objects.rwlocks.get(lock);
                    lock.prefers_readers() && lock.is_overtaking(ticket)
                }
                _ => false,
            })
    }

    /// Returns the place of the running thread. If it has none, reports misuse and returns `None`.
    fn held_place(&mut self, lock: u32) -> Option<Ticket> {
        let place = self.life.objects.rwlocks.get(lock).place_of(self.running);
        if place.is_none() {
            self.misuse("a reader-writer lock is released by a thread that does not hold it");
        }
        place
    }

    /// Orders the running thread after the earlier holders that released the lock.
    fn hold_place(&mut self, lock: u32, ticket: Ticket) {
        self.takes(Hold::RwLock(lock, ticket));
        self.follows_grant(Wait::RwLock(lock, ticket));
    }
}

mirror! {
    /// Creates a reader-writer lock of the execution.
    RwLock: Order,
    new() => false,
    at(prefers_readers: bool) => prefers_readers, 56 bytes,
    real enforce::blocking::RwLock = enforce::blocking::RwLock::new(),
    |engine, object, number| {
        is_tried: engine.names.is_coarse(object, Coarsening::Tried),
        prefers_readers: engine.life.objects.rwlocks.get(number).prefers_readers(),
    }
}

impl RwLock {
    /// Waits until the thread may read.
    // Not inlined: the await rule compares the program's frames between the rounds of a loop, and
    // the numbers of places and events differ in each round.
    #[inline(never)]
    #[track_caller]
    pub fn read(&self) -> Place {
        let location = Location::caller();
        let ticket = perform(Order::READ_REQUEST.on(self.object), location, |engine| {
            let thread = engine.running;
            self.order(engine).read_request(thread)
        });
        let wait = Wait::RwLock(self.number, ticket);
        perform::wait(Order::READ_WAIT.on(self.object), wait, location, |engine| {
            engine.hold_place(self.number, ticket);
        });
        Place::of(false)
    }

    /// Waits until the thread may write.
    // Not inlined, for the same reason as `read`.
    #[inline(never)]
    #[track_caller]
    pub fn write(&self) -> Place {
        let location = Location::caller();
        let ticket = perform(Order::WRITE_REQUEST.on(self.object), location, |engine| {
            let thread = engine.running;
            self.order(engine).write_request(thread)
        });
        let wait = Wait::RwLock(self.number, ticket);
        perform::wait(
            Order::WRITE_WAIT.on(self.object),
            wait,
            location,
            |engine| {
                engine.hold_place(self.number, ticket);
            },
        );
        Place::of(true)
    }

    /// Takes a reader's place if no thread writes.
    // Not inlined, for the same reason as `read`.
    #[inline(never)]
    #[track_caller]
    pub fn try_read(&self) -> Option<Place> {
        self.record_try();
        perform(
            Order::try_read_form(self.prefers_readers).on(self.object),
            Location::caller(),
            |engine| {
                let thread = engine.running;
                let ticket = self.order(engine).try_read(thread);
                self.tried(engine, "try_read", ticket, Seen::Written(self.number));
                ticket
            },
        )?;
        Some(Place::of(false))
    }

    /// Takes the writer's place if no thread reads or writes.
    // Not inlined, for the same reason as `read`.
    #[inline(never)]
    #[track_caller]
    pub fn try_write(&self) -> Option<Place> {
        self.record_try();
        perform(
            Order::TRY_WRITE.on(self.object),
            Location::caller(),
            |engine| {
                let thread = engine.running;
                let ticket = self.order(engine).try_write(thread);
                self.tried(engine, "try_write", ticket, Seen::Held(self.number));
                ticket
            },
        )?;
        Some(Place::of(true))
    }

    /// Gives up a place.
    // Not inlined, for the same reason as `read`.
    #[inline(never)]
    #[track_caller]
    pub fn release(&self, place: &Place) {
        let form = match place.is_writer {
            true => Order::write_release(self.is_tried),
            false => Order::read_release(self.is_tried),
        };
        perform(form.on(self.object), Location::caller(), |engine| {
            let event = engine.event();
            let Some(ticket) = engine.held_place(self.number) else {
                return;
            };
            engine.gives_back(Hold::RwLock(self.number, ticket));
            let lock = self.order(engine);
            lock.release(ticket, event);
            engine.may_grant(event);
        });
    }

    /// Turns a writer into a reader, with no other writer in between.
    // Not inlined, for the same reason as `read`.
    #[inline(never)]
    #[track_caller]
    pub fn downgrade(&self, place: &mut Place) {
        let form = Order::write_release(self.is_tried);
        perform(form.on(self.object), Location::caller(), |engine| {
            let event = engine.event();
            let Some(ticket) = engine.held_place(self.number) else {
                return;
            };
            engine.take_effect();
            let lock = self.order(engine);
            lock.downgrade(ticket, event);
            engine.may_grant(event);
            engine.record(|name| format!("{name}.downgrade()"));
        });
        place.is_writer = false;
    }

    /// Records that the lock is used with try operations. If this was unknown, the exploration
    /// starts again. Then a release is an access.
    fn record_try(&self) {
        if !self.is_tried {
            silently(|engine| engine.coarsen_object(self.object, Coarsening::Tried));
        }
    }

    fn tried(&self, engine: &mut Engine, operation: &str, ticket: Option<Ticket>, failed: Seen) {
        match ticket {
            Some(ticket) => engine.hold_place(self.number, ticket),
            None => engine.see(failed),
        }
        engine.record(|name| format!("{name}.{operation}() -> {}", ticket.is_some()));
    }
}
