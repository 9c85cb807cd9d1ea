//! The poison flag of a lock.
//!
//! Holders of the lock read and set the flag in the order in which they hold the lock, so these
//! accesses are not events. If a thread is known to read or clear the flag without holding the lock
//! (`Coarsening::Polled`), the flag is a separate object, and every access to it is an event.

use crate::engine::perform::silently;
use crate::rust::atomic::Atomic;
use crate::rust::mutex::Mutex;
use crate::rust::outside::outside;
use crate::rust::rwlock::RwLock;
use crate::rust::settle::{Settle, Settling};
use explore::ObjectId;
use objects::Coarsening;
use std::cell::Cell;
use std::panic::RefUnwindSafe;
use std::sync::atomic::Ordering::Relaxed;

/// The poison flag of a lock of the execution.
#[derive(Debug)]
pub struct Poison {
    /// The lock, once it has settled.
    lock: Cell<ObjectId>,
    /// The flag, which is an object of the exploration if accesses to it without the lock are
    /// known.
    flag: Atomic<bool>,
}

// SAFETY: as for the lock, with which it settles.
unsafe impl Sync for Poison {}

impl RefUnwindSafe for Poison {}

/// The name of the flag among the parts of the lock.
const FLAG: u64 = 0;

/// A use of the flag that enforced programs refuse. In a model, this use turns the holders'
/// accesses to the flag into events. Outside of models, it is not known in advance whether the use
/// will occur.
const POLLED: &str = "queries or clears the poisoning of a lock that it does not hold";

#[allow(clippy::new_without_default, reason = "only locks create it")]
impl Poison {
    /// Creates a flag that is not set. Each lock has a flag, which must settle together with the
    /// lock.
    #[track_caller]
    pub const fn new() -> Poison {
        Poison {
            lock: Cell::new(ObjectId::NONE),
            flag: Atomic::new(false),
        }
    }

    /// Settles the flag with its mutex.
    pub fn settle_with_mutex(&self, _settling: &Settling, mutex: Mutex) {
        self.settle_with(mutex.object);
    }

    /// Settles the flag with its reader-writer lock.
    pub fn settle_with_rwlock(&self, _settling: &Settling, lock: RwLock) {
        self.settle_with(lock.object);
    }

    fn settle_with(&self, lock: ObjectId) {
        self.lock.set(lock);
        let flag = silently(|engine| {
            let is_polled = engine.names.is_coarse(lock, Coarsening::Polled);
            let flag = is_polled.then(|| engine.names.part(lock, FLAG));
            flag.inspect(|&flag| engine.name_part(flag, lock, "poison"))
        });
        if let Some(flag) = flag {
            self.flag.settle_as(flag);
        }
    }

    #[inline(always)]
    fn is_polled(&self) -> bool {
        self.flag.is_settled()
    }

    /// Checks whether the lock is poisoned. The calling thread need not hold the lock.
    #[track_caller]
    pub fn check(&self) -> bool {
        outside!({
            crate::rust::outside::refuse(POLLED);
            self.flag.peek()
        });
        self.poll();
        self.is_set()
    }

    /// Clears the poison. The calling thread need not hold the lock.
    #[track_caller]
    pub fn clear(&self) {
        outside!({
            crate::rust::outside::refuse(POLLED);
            self.flag.write_outside(false);
        });
        self.poll();
        self.change(false);
    }

    /// Checks whether the lock is poisoned. The calling thread holds the lock.
    #[inline(always)]
    #[track_caller]
    pub fn is_set(&self) -> bool {
        outside!(self.flag.peek());
        match self.is_polled() {
            true => self.load(),
            false => self.flag.own(),
        }
    }

    #[cold]
    #[inline(never)]
    #[track_caller]
    fn load(&self) -> bool {
        self.flag.load(Relaxed)
    }

    /// Poisons the lock. The calling thread holds the lock.
    #[track_caller]
    pub fn set(&self) {
        self.change(true);
    }

    /// Checks whether the lock is poisoned, without an event. The caller has exclusive access to
    /// the lock, or formats it for `Debug`.
    pub fn peek(&self) -> bool {
        outside!(self.flag.peek());
        self.flag.own()
    }

    #[track_caller]
    fn change(&self, value: bool) {
        outside!(self.flag.write_outside(value));
        match self.is_polled() {
            true => self.flag.store(value, Relaxed),
            false => self.flag.set(value),
        }
    }

    /// Records that threads that do not hold the lock use the flag. The exploration starts again if
    /// that was unknown.
    fn poll(&self) {
        silently(|engine| {
            engine.coarsen_object(self.lock.get(), Coarsening::Polled);
            engine.refuse_to_enforce(POLLED);
        });
    }
}
