//! Poison: a lock that was held by a thread that panicked.

use crate::choice::torn_down;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

/// Whether a lock is poisoned. Shared by the threads of a model only, which never run at the same time.
#[derive(Default)]
pub(super) struct Poison(AtomicBool);

/// Whether the thread was panicking when it took the lock.
#[derive(Clone, Copy)]
pub(super) struct WasPanicking(bool);

impl Poison {
    /// Called when the lock is taken.
    pub fn enter() -> WasPanicking {
        WasPanicking(runtime::panicking())
    }

    /// Called when the lock is given back: a panic in between poisons it.
    pub fn leave(&self, before: WasPanicking) {
        if !before.0 && runtime::panicking() {
            self.0.store(true, Relaxed);
        }
    }

    pub fn is_set(&self) -> bool {
        self.0.load(Relaxed)
    }

    pub fn clear(&self) {
        self.0.store(false, Relaxed);
    }

    /// The guard, as `Err` if the lock is poisoned.
    pub fn wrap<G>(&self, guard: G) -> LockResult<G> {
        match self.is_set() {
            false => Ok(guard),
            true => Err(PoisonError::new(guard)),
        }
    }

    /// The guard of a try that succeeded.
    pub fn wrap_try<G>(&self, guard: G) -> TryLockResult<G> {
        self.wrap(guard).map_err(TryLockError::Poisoned)
    }
}

/// The access to the data of a lock that the model has granted.
pub(super) fn granted<G>(access: TryLockResult<G>) -> G {
    match access {
        Ok(access) => access,
        Err(TryLockError::Poisoned(access)) => access.into_inner(),
        // Only while the execution is torn down are locks granted that another thread still holds.
        Err(TryLockError::WouldBlock) => torn_down(),
    }
}
