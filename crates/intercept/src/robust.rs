//! Mutexes that survive their owners (`PTHREAD_MUTEX_ROBUST`): a thread that ends gives back those that it holds, the youngest
//! first, and whoever is next is told.

use crate::mutex::hold;
use crate::threads;
use libc::{c_int, pthread_mutex_t};
use runtime::native::{self, at};
use runtime::{Condition, Mutex};

/// In the kind of a mutex.
pub(crate) const ROBUST: c_int = 16;

/// A thread has tried to take a mutex, or has waited for it: what it is told. `failed` is the error if it was not granted.
///
/// # Safety
///
/// The program gave the mutex, which is robust.
pub(crate) unsafe fn taken(
    mutex: *mut pthread_mutex_t,
    lock: Mutex,
    failed: Option<c_int>,
    code: usize,
) -> c_int {
    match (lock.condition(), failed) {
        (Condition::NotRecoverable, None) => {
            at(code, || lock.unlock());
            libc::ENOTRECOVERABLE
        }
        (Condition::NotRecoverable, Some(_)) => libc::ENOTRECOVERABLE,
        (Condition::Consistent | Condition::OwnerEnded, Some(error)) => error,
        (condition, None) => {
            threads::hold_robust(mutex.expose_provenance());
            // SAFETY: as promised by the caller.
            unsafe { hold(mutex, threads::own_number(), 1) };
            match condition {
                Condition::OwnerEnded => libc::EOWNERDEAD,
                Condition::Consistent | Condition::NotRecoverable => 0,
            }
        }
    }
}

/// The thread that runs ends: it gives back what it holds.
pub(crate) fn abandon_all() {
    while let Some(address) = threads::youngest_robust() {
        let mutex = std::ptr::with_exposed_provenance_mut(address);
        // SAFETY: a mutex that the thread holds is there.
        unsafe { hold(mutex, 0, 0) };
        native::inner_mutex_at(address).abandon();
    }
}

/// The thread that runs, which holds the mutex, says that what it guards is consistent again.
pub(crate) fn repair(mutex: *mut pthread_mutex_t, code: usize) -> c_int {
    match native::mutex_at(mutex.addr(), code).repair() {
        true => 0,
        false => libc::EINVAL,
    }
}
