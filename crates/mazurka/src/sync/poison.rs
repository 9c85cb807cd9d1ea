//! Poison: a lock that was held by a thread that panicked.

use crate::choice::torn_down;
use runtime::Settling;
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

/// Whether a lock is poisoned.
pub(super) struct Poison(runtime::Poison);

/// Whether the thread was panicking when it took the lock.
#[derive(Clone, Copy)]
pub(super) struct WasPanicking(bool);

impl Poison {
    #[track_caller]
    pub const fn new() -> Poison {
        Poison(runtime::Poison::new())
    }

    pub fn settle_with_mutex(&self, settling: &Settling, mutex: runtime::Mutex) {
        self.0.settle_with_mutex(settling, mutex);
    }

    pub fn settle_with_rwlock(&self, settling: &Settling, lock: runtime::RwLock) {
        self.0.settle_with_rwlock(settling, lock);
    }

    /// Called when the lock is taken.
    pub fn enter() -> WasPanicking {
        WasPanicking(runtime::panicking())
    }

    /// Called when the lock is given back: a panic in between poisons it.
    pub fn leave(&self, before: WasPanicking) {
        if !before.0 && runtime::panicking() {
            self.0.set();
        }
    }

    /// Asked with or without the lock.
    #[track_caller]
    pub fn look(&self) -> bool {
        self.0.look()
    }

    /// Asked where nobody else has the lock, or for people.
    pub fn peek(&self) -> bool {
        self.0.peek()
    }

    #[track_caller]
    pub fn clear(&self) {
        self.0.clear();
    }

    /// The guard, as `Err` if the lock is poisoned.
    #[inline(always)]
    #[track_caller]
    pub fn wrap<G>(&self, guard: G) -> LockResult<G> {
        or_poisoned(guard, self.0.is_set())
    }

    /// The guard of a try that succeeded.
    #[inline]
    #[track_caller]
    pub fn wrap_try<G>(&self, guard: G) -> TryLockResult<G> {
        self.wrap(guard).map_err(TryLockError::Poisoned)
    }

    /// The value of a lock that nobody else has.
    pub fn wrap_own<V>(&self, value: V) -> LockResult<V> {
        or_poisoned(value, self.peek())
    }
}

#[inline(always)]
fn or_poisoned<G>(guard: G, is_poisoned: bool) -> LockResult<G> {
    match is_poisoned {
        false => Ok(guard),
        true => Err(PoisonError::new(guard)),
    }
}

/// What locks that can be poisoned have beside their guards.
macro_rules! poisoned {
    ($(#[$attribute:meta])* $is_poisoned:ident) => {
        $(#[$attribute])*
        #[track_caller]
        pub fn $is_poisoned(&self) -> bool {
            self.0.get().poison.look()
        }

        /// Forgets the poison.
        #[track_caller]
        pub fn clear_poison(&self) {
            self.0.get().poison.clear();
        }

        /// The value, which nobody else can touch.
        pub fn get_mut(&mut self) -> LockResult<&mut T> {
            let own = self.0.get_mut();
            let value = own.data.get_mut().unwrap_or_else(PoisonError::into_inner);
            own.poison.wrap_own(value)
        }

        /// The value; `Err` if the lock is poisoned.
        pub fn into_inner(self) -> LockResult<T>
        where
            T: Sized,
        {
            let Locked { poison, data, .. } = self.0.into_inner();
            let value = data.into_inner().unwrap_or_else(PoisonError::into_inner);
            poison.wrap_own(value)
        }
    };
}

pub(super) use poisoned;

/// The access to the data of a lock that is granted.
pub(super) fn granted<G>(access: TryLockResult<G>, wait: impl FnOnce() -> LockResult<G>) -> G {
    match access {
        Ok(access) => access,
        Err(TryLockError::Poisoned(access)) => access.into_inner(),
        // Somebody shows the data (`Debug`), which takes a moment.
        Err(TryLockError::WouldBlock) if runtime::is_outside() => {
            wait().unwrap_or_else(PoisonError::into_inner)
        }
        // Only while the execution is torn down are locks granted that another thread still holds.
        Err(TryLockError::WouldBlock) => torn_down(),
    }
}
