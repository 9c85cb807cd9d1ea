//! Stops the program in a debugger at failures of a native program that is run again.

use crate::engine::Engine;
use explore::Pending;
use std::ffi::{CString, c_char};
use std::hint::black_box;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering::Relaxed};

static IS_DEBUGGED: AtomicBool = AtomicBool::new(false);

/// Makes each failure call [`mazurka_failed`] from now on.
pub fn call_debugger_at_failures() {
    IS_DEBUGGED.store(true, Relaxed);
}

/// Stops the program in the debugger, if there is one, at a failure.  A failure of a thread calls
/// this on the thread's stack.
pub fn stop_for_debugger(message: &str) {
    if IS_DEBUGGED.load(Relaxed) {
        let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
        mazurka_failure.store(message.as_ptr().cast_mut(), Relaxed);
        mazurka_failed();
    }
}

impl Engine {
    /// Stops the program in the debugger before the report, if the running thread has begun to wait
    /// and the execution is in a deadlock.
    #[inline]
    pub(crate) fn stop_at_deadlock(&self) {
        if IS_DEBUGGED.load(Relaxed) && self.is_deadlock() {
            stop_for_debugger("deadlock: this thread waits, and so do all others");
        }
    }

    #[cold]
    fn is_deadlock(&self) -> bool {
        let mut born = self.started().iter();
        let waits = born.all(|thread| match self.life.pending[thread.index()] {
            Pending::Waiting(_) | Pending::Finished => true,
            Pending::NotStarted | Pending::Enabled(_) | Pending::Halted(_) | Pending::Failed => {
                false
            }
        });
        waits && !self.has_program_ended() && !self.has_ready()
    }
}

/// The description of the failure, a C string, during a call of [`mazurka_failed`].
// SAFETY: no other variable has this name.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "debuggers look it up by its C name")]
pub static mazurka_failure: AtomicPtr<c_char> = AtomicPtr::new(ptr::null_mut());

/// A place for a breakpoint.
// SAFETY: no other function has this name.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn mazurka_failed() {
    black_box(&mazurka_failure);
}
