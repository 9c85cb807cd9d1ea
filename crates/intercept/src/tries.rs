//! Calls that may fail without changing anything. The await rule, which stops a thread whose loop
//! makes no progress, applies to loops around these calls.

use crate::callers::is_of_std_lock;
use runtime::native::{self, Frame};

/// Returns the return address of the program's call.
pub(crate) fn code_of(frame: *const Frame) -> usize {
    // SAFETY: the frame belongs to a call that has not returned.
    unsafe { (*frame).code() }
}

/// Runs a call that may fail without changing anything. The await rule stops the thread before the
/// call if two conditions hold: the thread has changed nothing since its last try at this call, and
/// the call would fail again.
pub(crate) fn tries<R>(frame: *const Frame, tries: impl FnOnce() -> R) -> R {
    // SAFETY: the frame belongs to a call that has not returned.
    unsafe { native::try_at(frame, tries) }
}

/// Runs a wait for a lock. The await rule stops the thread before the call if the thread has changed
/// nothing since its last wait at this call.
pub(crate) fn wait_for_lock<R>(frame: *const Frame, waits: impl FnOnce() -> R) -> R {
    // SAFETY: the frame belongs to a call that has not returned.
    unsafe { native::wait_for_lock_at(frame, waits) }
}

/// Runs an attempt to lock. If the attempt fails, records whether `std::lock` made it. In this case
/// `std::lock` begins again with another lock.
pub(crate) fn tries_to_lock<R>(
    frame: *const Frame,
    try_once: impl FnOnce() -> Option<R>,
) -> Option<R> {
    // SAFETY: the frame belongs to a call that has not returned.
    let taken = unsafe { native::try_lock_at(frame, try_once) };
    if taken.is_none() {
        native::failed_to_lock(is_of_std_lock(frame));
    }
    taken
}
