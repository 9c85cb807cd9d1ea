//! Locks that constructors of the program take before `main`. The C library performs these calls,
//! so the model does not know that a lock is held. A program that holds one when `main` begins is
//! refused.

use crate::start::is_before_main;
use crate::worker;
use libc::c_int;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The number of locks that are held.
static HELD: AtomicUsize = AtomicUsize::new(0);

/// Counts a lock that was taken if `result` is 0. Returns `result`.
pub(crate) fn took(result: c_int) -> c_int {
    if result == 0 && is_before_main() {
        HELD.fetch_add(1, Relaxed);
    }
    result
}

/// Counts a lock that was released if `result` is 0. Returns `result`.
pub(crate) fn released(result: c_int) -> c_int {
    if result == 0 && is_before_main() {
        HELD.store(HELD.load(Relaxed).saturating_sub(1), Relaxed);
    }
    result
}

/// Refuses a program that holds a lock.
pub(crate) fn refuse_held() {
    if HELD.load(Relaxed) > 0 {
        worker::refuse(
            "the program takes a lock before `main` (in a constructor) and still holds it when `main` begins: \
             that cannot be checked",
        );
    }
}
