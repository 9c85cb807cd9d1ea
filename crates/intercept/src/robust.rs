//! Mutexes that survive their owners (`PTHREAD_MUTEX_ROBUST`). A thread that ends releases the
//! robust mutexes that it holds, in reverse order of their acquisition. The next owner gets an
//! error code.

use crate::clock;
use crate::mutex::hold;
use crate::threads;
use libc::{c_int, pthread_mutex_t};
use runtime::native::{self, at};
use runtime::{Condition, Mutex};

/// Flag in the kind of a mutex.
pub(crate) const ROBUST: c_int = 16;

/// Finishes an attempt or a wait for a mutex, and returns its POSIX result. `failed` is the error
/// if the mutex was not granted.
///
/// # Safety
///
/// The program must have passed the mutex, which must be robust.
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

/// Releases all robust mutexes that the running thread holds, at its end.
pub(crate) fn abandon_all() {
    while let Some(address) = threads::youngest_robust() {
        let mutex = std::ptr::with_exposed_provenance_mut(address);
        // SAFETY: a mutex exists while a thread holds it.
        unsafe { hold(mutex, 0, 0) };
        clock::release(address);
        native::inner_mutex_at(address).abandon();
    }
}

/// Marks the data that a mutex guards as consistent again. The running thread holds the mutex.
pub(crate) fn repair(mutex: *mut pthread_mutex_t, code: usize) -> c_int {
    match native::mutex_at(mutex.addr(), code).repair() {
        true => 0,
        false => libc::EINVAL,
    }
}
