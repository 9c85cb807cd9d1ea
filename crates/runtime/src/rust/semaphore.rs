//! Counting semaphores.

use crate::engine::Engine;
use crate::engine::perform::{self, perform, silently};
use crate::rust::mirror::mirror;
use crate::rust::mutex::expire;
use crate::rust::pools::Wait;
use crate::watch::seen::Seen;
use explore::{ObjectId, Op, OpKind};
use objects::{Coarsening, Form, Semaphore as Order, Ticket};
use report::quantity::counted;
use std::panic::Location;

/// The number of initial permits above which a semaphore of a native program may reach its limit.
const NEAR_LIMIT: usize = 1 << 30;

/// A counting semaphore that hands out one permit at a time.
#[derive(Clone, Copy, Debug)]
pub struct Semaphore {
    pub(crate) object: ObjectId,
    number: u32,
    /// Whether the number of permits is known to matter, because it is read or may reach a limit.
    /// If so, all operations of the semaphore access one object.
    is_counted: bool,
}

impl Engine {
    /// Orders the running thread after the release from which its permit comes.
    fn hold_permit(&mut self, semaphore: u32, ticket: Ticket) {
        self.take_effect();
        self.follows_grant(Wait::Semaphore(semaphore, ticket));
    }

    /// Checks whether all operations of a new semaphore must access one object.
    fn counts_permits(&mut self, object: ObjectId, number: u32) -> bool {
        let permits = self.life.objects.semaphores.get(number).available();
        if self.config.native.is_some() && permits > NEAR_LIMIT {
            self.coarsen_object(object, Coarsening::Tried);
        }
        self.names.is_coarse(object, Coarsening::Tried)
    }
}

mirror! {
    /// Creates a semaphore with the given number of permits.
    Semaphore: Order,
    new(permits: usize) => permits,
    at(permits: usize) => permits, 32 bytes,
    real std::sync::OnceLock<enforce::blocking::Semaphore> = std::sync::OnceLock::new(),
    |engine, object, number| {
        is_counted: engine.counts_permits(object, number),
    }
}

impl Semaphore {
    /// Waits for a permit.
    #[track_caller]
    pub fn acquire(&self) {
        let location = Location::caller();
        let ticket = self.request(Order::REQUEST, location);
        let wait = Wait::Semaphore(self.number, ticket);
        perform::wait(Order::WAIT.on(self.object), wait, location, |engine| {
            engine.hold_permit(self.number, ticket);
            self.record_stock(engine);
        });
    }

    /// Takes a permit if there is one.
    // Not inlined: the await rule compares the program's frames between the rounds of a loop, and
    // the number of the place differs in each round.
    #[inline(never)]
    #[track_caller]
    pub fn try_acquire(&self) -> bool {
        let location = Location::caller();
        let ticket = self.request(Order::TRY_PLACE, location);
        perform(self.op(Order::TRY_RESULT), location, |engine| {
            debug_assert_eq!(engine.op.kind, OpKind::SemaphoreTryResult);
            let is_granted = self.order(engine).resolve(ticket);
            if is_granted {
                engine.hold_permit(self.number, ticket);
            } else {
                engine.see(Seen::NoPermit(self.number));
            }
            engine.record(|name| format!("{name}.try_acquire() -> {is_granted}"));
            self.record_stock(engine);
            is_granted
        })
    }

    fn request(&self, form: Form, location: &'static Location<'static>) -> Ticket {
        perform(self.op(form), location, |engine| {
            let event = engine.event();
            let semaphore = self.order(engine);
            let ticket = semaphore.request(event);
            self.record_stock(engine);
            ticket
        })
    }

    /// Waits for a permit with a time limit, which may expire at any time. Returns whether the
    /// thread got a permit.
    #[track_caller]
    pub fn acquire_timed(&self) -> bool {
        let is_granted = self.try_acquire();
        if !is_granted {
            expire();
        }
        is_granted
    }

    /// Adds a permit.
    #[track_caller]
    pub fn release(&self) {
        self.release_below(usize::MAX);
    }

    /// Adds a permit unless the semaphore is known to have at least `most` permits. Returns whether
    /// the permit was added.
    #[track_caller]
    pub fn release_below(&self, most: usize) -> bool {
        perform(self.op(Order::RELEASE), Location::caller(), |engine| {
            let event = engine.event();
            let semaphore = self.order(engine);
            // If permits are not counted, requests and releases are not ordered, so their number is
            // unknown. It is far below the limit in that case.
            let is_full = self.is_counted && semaphore.available() >= most;
            if !is_full {
                semaphore.release(event);
                engine.may_grant(event);
            }
            self.record_stock(engine);
            !is_full
        })
    }

    /// Returns the number of available permits, which no thread has requested. After the first use
    /// of this function, all requests and releases of the semaphore access one object, because the
    /// number depends on both.
    #[track_caller]
    pub fn permits(&self) -> usize {
        silently(|engine| engine.coarsen_object(self.object, Coarsening::Tried));
        perform(self.op(Order::TRY_RESULT), Location::caller(), |engine| {
            let permits = self.order(engine).available();
            engine.see(Seen::Permits(self.number, permits));
            engine.record(|name| format!("{name}.permits() -> {permits}"));
            permits
        })
    }

    /// Records the number of available permits, for users.
    fn record_stock(&self, engine: &mut Engine) {
        if engine.watch.records {
            let permits = self.order(engine).available();
            engine.record_stock(engine.op.object, counted(permits as u64, "permit"));
        }
    }

    fn op(&self, form: Form) -> Op {
        let op = form.on(self.object);
        match self.is_counted && op.object != ObjectId::NONE {
            true => Op {
                object: self.object,
                ..op
            },
            false => op,
        }
    }
}
