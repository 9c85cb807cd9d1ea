//! Reports an abort of the checker's own code, which is not a verdict on the program, and ends the
//! process.

use crate::worker::refuse_now;
use libc::{c_char, c_uint};
use std::backtrace::Backtrace;
use std::ffi::CStr;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

/// The message of the C library when it aborts the process: a length followed by a string.
#[repr(C)]
struct Message {
    length: c_uint,
    text: [c_char; 0],
}

/// Address of the C library's variable for its message; null if there is no such variable.
static MESSAGE: AtomicPtr<*const Message> = AtomicPtr::new(std::ptr::null_mut());

/// Number of callers that are named.
const CALLERS: usize = 8;

/// Prepares for an abort, during which the dynamic linker must not be called.
pub(crate) fn begin() {
    // SAFETY: a valid name.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__abort_msg".as_ptr()) };
    MESSAGE.store(found.cast(), Relaxed);
}

/// Handles a `SIGABRT` that the checker's own code has caused. `is_runner` is true in the thread
/// that runs the program.
pub(crate) fn aborted(is_runner: bool) -> ! {
    // A further failure ends the process: an abort at once, a deadlock at the timer's next signal
    // (`watch`).
    for signal in [libc::SIGABRT, libc::SIGALRM] {
        // SAFETY: the call restores the default action.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    let thread = if is_runner { "" } else { " in another thread" };
    let message = message().unwrap_or_default();
    refuse_now(&format!(
        "Mazurka's process failed: it was aborted{thread}, outside of the program{message} (called by {}); if valgrind \
         finds no error in the program, this is a bug in mazurka",
        callers().join(", ")
    ));
}

fn message() -> Option<String> {
    // SAFETY: the variable has this type since glibc 2.4: null, or a message that ends with a zero.
    let text = unsafe {
        let message = MESSAGE.load(Relaxed).as_ref()?.as_ref()?;
        CStr::from_ptr((&raw const message.text).cast())
    };
    let text = text.to_string_lossy();
    let words: Vec<&str> = text.split_whitespace().collect();
    Some(format!(", \"{}\"", words.join(" ")))
}

/// Returns the functions on the stack, the innermost first.
fn callers() -> Vec<String> {
    /// Functions that have been called since the signal.
    const OWN: [&str; 3] = ["backtrace", "own_failure", "on_signal"];
    let shown = Backtrace::force_capture().to_string();
    let names = shown.lines().filter_map(|line| {
        let (number, name) = line.trim_start().split_once(": ")?;
        number.parse::<usize>().is_ok().then(|| name.to_owned())
    });
    let outside = names.filter(|name| !OWN.iter().any(|pattern| name.contains(pattern)));
    outside.take(CALLERS).collect()
}
