//! Calls that may fail and change nothing.

use runtime::native::{self, Frame};

/// Where the program called.
pub(crate) fn code_of(frame: *const Frame) -> usize {
    // SAFETY: frames are those of calls that have not returned.
    unsafe { (*frame).code() }
}

/// What may fail and change nothing.
pub(crate) fn tries<R>(frame: *const Frame, tries: impl FnOnce() -> R) -> R {
    // SAFETY: frames are those of calls that have not returned.
    unsafe { native::try_at(frame, tries) }
}
