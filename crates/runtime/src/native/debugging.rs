//! Where a debugger stops a native program that is run again.

use crate::engine::Engine;
use explore::Pending;
use std::ffi::{CString, c_char};
use std::hint::black_box;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering::Relaxed};

static IS_DEBUGGED: AtomicBool = AtomicBool::new(false);

/// From now on [`mazurka_failed`] is called where something fails.
pub fn tell_debugger() {
    IS_DEBUGGED.store(true, Relaxed);
}

/// Something fails here, on the stack of the thread that it fails in if it fails in one.
pub fn stop_for_debugger(message: &str) {
    if IS_DEBUGGED.load(Relaxed) {
        let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
        mazurka_failure.store(message.as_ptr().cast_mut(), Relaxed);
        mazurka_failed();
    }
}

impl Engine {
    /// The thread that runs has begun to wait: a debugger stops where that is a deadlock, before its end is told.
    #[inline]
    pub(crate) fn stop_at_deadlock(&self) {
        if IS_DEBUGGED.load(Relaxed) && self.is_deadlock() {
            stop_for_debugger("deadlock: this thread waits, and so do all others");
        }
    }

    #[cold]
    fn is_deadlock(&self) -> bool {
        let mut born = self.born().iter();
        let waits = born.all(|thread| match self.pending[thread.index()] {
            Pending::Waiting(_) | Pending::Finished => true,
            Pending::Unborn | Pending::Enabled(_) | Pending::Halted(_) | Pending::Failed => false,
        });
        waits && !self.has_program_ended() && !self.has_ready()
    }
}

/// What has failed, a string of C, while [`mazurka_failed`] is called.
// SAFETY: no other variable has this name.
#[unsafe(no_mangle)]
#[allow(
    non_upper_case_globals,
    reason = "debuggers look for it by a name of C"
)]
pub static mazurka_failure: AtomicPtr<c_char> = AtomicPtr::new(ptr::null_mut());

/// A place for a breakpoint.
// SAFETY: no other function has this name.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn mazurka_failed() {
    black_box(&mazurka_failure);
}
