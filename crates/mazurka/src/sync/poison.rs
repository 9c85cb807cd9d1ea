//! Poisoning of locks that a panicking thread held.

use crate::choice::halt_in_tear_down;
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

    /// Called when the lock is acquired. The result is passed to [`leave`](Poison::leave).
    pub fn enter() -> WasPanicking {
        WasPanicking(runtime::panicking())
    }

    /// Called when the lock is released. Poisons the lock if a panic began while it was held.
    pub fn leave(&self, before: WasPanicking) {
        if !before.0 && runtime::panicking() {
            self.0.set();
        }
    }

    /// Checks whether the lock is poisoned. The caller need not hold the lock.
    #[track_caller]
    pub fn check(&self) -> bool {
        self.0.check()
    }

    /// Checks whether the lock is poisoned, without an event. The caller has exclusive access to
    /// the lock, or formats it for `Debug`.
    pub fn peek(&self) -> bool {
        self.0.peek()
    }

    #[track_caller]
    pub fn clear(&self) {
        self.0.clear();
    }

    /// Returns the guard, as `Err` if the lock is poisoned.
    #[inline(always)]
    #[track_caller]
    pub fn wrap<G>(&self, guard: G) -> LockResult<G> {
        or_poisoned(guard, self.0.is_set())
    }

    /// Returns the guard of a successful try, as `Err` if the lock is poisoned.
    #[inline]
    #[track_caller]
    pub fn wrap_try<G>(&self, guard: G) -> TryLockResult<G> {
        self.wrap(guard).map_err(TryLockError::Poisoned)
    }

    /// Returns the value of a lock that no other thread can access, as `Err` if it is poisoned.
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

/// Defines the common methods of locks that can be poisoned.
macro_rules! poisoned {
    ($(#[$attribute:meta])* $is_poisoned:ident) => {
        $(#[$attribute])*
        #[track_caller]
        pub fn $is_poisoned(&self) -> bool {
            self.0.get().poison.check()
        }

        /// Marks the lock as not poisoned.
        #[track_caller]
        pub fn clear_poison(&self) {
            self.0.get().poison.clear();
        }

        /// Returns a reference to the value. The exclusive borrow shows that no other thread has
        /// access.
        pub fn get_mut(&mut self) -> LockResult<&mut T> {
            let inner = self.0.get_mut();
            let value = inner.data.get_mut().unwrap_or_else(PoisonError::into_inner);
            inner.poison.wrap_own(value)
        }

        /// Returns the value, as `Err` if the lock is poisoned.
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

/// Returns access to the data of a lock that has been granted.
pub(super) fn granted<G>(access: TryLockResult<G>, wait: impl FnOnce() -> LockResult<G>) -> G {
    match access {
        Ok(access) => access,
        Err(TryLockError::Poisoned(access)) => access.into_inner(),
        // Another thread is formatting the data (`Debug`), which does not take long.
        Err(TryLockError::WouldBlock) if runtime::is_outside() => {
            wait().unwrap_or_else(PoisonError::into_inner)
        }
        // A lock that another thread still holds is granted only while the execution is torn down
        // (ended before all threads have returned).
        Err(TryLockError::WouldBlock) => halt_in_tear_down(),
    }
}
