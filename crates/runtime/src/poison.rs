//! Whether a lock is poisoned: a flag beside the lock.
//!
//! Those who hold the lock look at the flag and set it in the order of the lock, so that these are no
//! events. Where it is known that somebody asks or clears without holding the lock
//! (`Coarsening::Polled`), the flag is an object of its own, and whatever is done with it is an event.

use crate::atomic::Atomic;
use crate::mutex::Mutex;
use crate::perform::silently;
use crate::rwlock::RwLock;
use explore::ObjectId;
use objects::Coarsening;
use std::sync::atomic::Ordering::Relaxed;

/// The poison flag of a lock of the execution.
#[derive(Debug)]
pub struct Poison {
    lock: ObjectId,
    flag: Atomic<bool>,
    /// Known to be asked for without the lock.
    is_polled: bool,
}

/// What names the flag among the parts of the lock.
const FLAG: u64 = 0;

impl Poison {
    /// The flag of a mutex, not set. One for each mutex.
    pub fn of_mutex(mutex: &Mutex) -> Poison {
        Poison::of(mutex.object)
    }

    /// The flag of a reader-writer lock, not set. One for each lock.
    pub fn of_rwlock(lock: &RwLock) -> Poison {
        Poison::of(lock.object)
    }

    fn of(lock: ObjectId) -> Poison {
        let object = silently(|engine| {
            let is_polled = engine.names.is_coarse(lock, Coarsening::Polled);
            let object = is_polled.then(|| engine.names.part(lock, FLAG));
            object.inspect(|&object| engine.name_part(object, lock, "poison"))
        });
        Poison {
            lock,
            flag: Atomic::at(object.unwrap_or(ObjectId::NONE), false),
            is_polled: object.is_some(),
        }
    }

    /// Whether the lock is poisoned, asked by anybody.
    #[track_caller]
    pub fn look(&self) -> bool {
        self.poll();
        self.is_set()
    }

    /// Forgets the poison, for anybody.
    #[track_caller]
    pub fn clear(&self) {
        self.poll();
        self.change(false);
    }

    /// Whether the lock is poisoned, asked by who holds it.
    #[inline(always)]
    #[track_caller]
    pub fn is_set(&self) -> bool {
        match self.is_polled {
            true => self.load(),
            false => self.flag.peek(),
        }
    }

    #[cold]
    #[inline(never)]
    #[track_caller]
    fn load(&self) -> bool {
        self.flag.load(Relaxed)
    }

    /// Poisons the lock, for who holds it.
    #[track_caller]
    pub fn set(&self) {
        self.change(true);
    }

    /// Whether the lock is poisoned, without an event: for `Debug`, and where nobody else has the lock.
    pub fn peek(&self) -> bool {
        self.flag.peek()
    }

    #[track_caller]
    fn change(&self, value: bool) {
        match self.is_polled {
            true => self.flag.store(value, Relaxed),
            false => self.flag.set(value),
        }
    }

    /// Others than holders of the lock need the flag: the exploration starts again if that was not known.
    fn poll(&self) {
        silently(|engine| engine.coarsen(self.lock, Coarsening::Polled));
    }
}
