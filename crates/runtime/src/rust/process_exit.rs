//! Makes `std::process::exit` in a model a failure of the model. If the call really ended the
//! process, it would end the check before its findings are reported and before all executions are
//! explored.
//!
//! An `atexit` handler would run too late, because the thread-local variables of the thread no
//! longer exist then. So this library defines `exit`, which the standard library calls. In the
//! standard library, only one thread of a process can call `exit`; other threads wait in `pause`
//! forever. If that thread belonged to a model, a thread that comes to `pause` ends the process
//! with the status of a failed test.
//!
//! The symbols are weak: a program may have its own definitions. Programs that link the C library
//! statically keep the definitions of the C library.

use crate::engine::current;
use crate::engine::trap;
use libc::c_int;
use std::arch::global_asm;
use std::ffi::CStr;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// The exit status of a test process with a failing test.
const FAILED: c_int = 101;

/// Whether a model has called `exit`.
static HAS_EXITED: AtomicBool = AtomicBool::new(false);

global_asm!(
    ".pushsection .text.mazurka_runtime_exit,\"ax\",@progbits",
    ".weak exit",
    ".type exit,@function",
    "exit:",
    "jmp {exit}",
    ".size exit, . - exit",
    ".weak pause",
    ".type pause,@function",
    "pause:",
    "jmp {pause}",
    ".size pause, . - pause",
    ".popsection",
    exit = sym exit,
    pause = sym pause,
);

extern "C" fn exit(status: c_int) -> ! {
    end_model();
    real_exit(status)
}

extern "C" fn pause() -> c_int {
    if HAS_EXITED.load(SeqCst) {
        end_model();
        real_exit(FAILED);
    }
    let Some(real) = next(c"pause") else {
        return -1;
    };
    // SAFETY: the function of the C library has this type.
    let real: extern "C" fn() -> c_int = unsafe { mem::transmute(real) };
    real()
}

/// Ends the current thread of the model with a failure, if the caller runs in a model. Otherwise
/// returns.
fn end_model() {
    if !current::load().is_null() {
        HAS_EXITED.store(true, SeqCst);
        trap::exit_process();
    }
}

fn real_exit(status: c_int) -> ! {
    match next(c"exit") {
        Some(real) => {
            // SAFETY: the function of the C library has this type.
            let real: extern "C" fn(c_int) -> ! = unsafe { mem::transmute(real) };
            real(status)
        }
        // SAFETY: the call has no preconditions.
        None => unsafe { libc::_exit(status) },
    }
}

/// Returns the definition that this library's definition hides, if there is one.
fn next(name: &CStr) -> Option<*mut libc::c_void> {
    // SAFETY: the name is a string that ends with 0.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}
