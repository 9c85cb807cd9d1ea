//! The checker's own code aborts: no verdict on the program follows from that. The process says what it can and ends.

use crate::worker::refuse_now;
use libc::{c_char, c_uint};
use std::backtrace::Backtrace;
use std::ffi::CStr;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

/// What the C library says when it aborts: a length, and a string behind it.
#[repr(C)]
struct Message {
    length: c_uint,
    text: [c_char; 0],
}

/// Where the C library has the address of its message; null if it does not tell.
static MESSAGE: AtomicPtr<*const Message> = AtomicPtr::new(std::ptr::null_mut());

/// Callers that are named.
const CALLERS: usize = 8;

/// Prepares for an abort, in which the dynamic linker may not be asked.
pub(crate) fn begin() {
    // SAFETY: a valid name.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__abort_msg".as_ptr()) };
    MESSAGE.store(found.cast(), Relaxed);
}

/// The signal of an abort has come while the checker's code ran, in the thread that runs the program or in another one.
pub(crate) fn aborted(is_runner: bool) -> ! {
    // Whatever goes wrong from here on ends the process: another abort at once, a lock that is held by the next tick of the clock.
    for signal in [libc::SIGABRT, libc::SIGALRM] {
        // SAFETY: asks for what is usual.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    let thread = if is_runner { "" } else { " in another thread" };
    let message = message().unwrap_or_default();
    refuse_now(&format!(
        "Mazurka's process failed: it aborts{thread}, outside of the program{message} (called by {}); if valgrind finds no error in \
         the program, this is an error of mazurka",
        callers().join(", ")
    ));
}

fn message() -> Option<String> {
    // SAFETY: the variable has its type since glibc 2.4, and its string ends with a null; null if there was no message.
    let text = unsafe {
        let message = MESSAGE.load(Relaxed).as_ref()?.as_ref()?;
        CStr::from_ptr((&raw const message.text).cast())
    };
    let text = text.to_string_lossy();
    let words: Vec<&str> = text.split_whitespace().collect();
    Some(format!(", \"{}\"", words.join(" ")))
}

/// The functions that are under way, the innermost first.
fn callers() -> Vec<String> {
    /// What has come to be called since the signal.
    const OWN: [&str; 3] = ["backtrace", "own_failure", "on_signal"];
    let shown = Backtrace::force_capture().to_string();
    let names = shown.lines().filter_map(|line| {
        let (number, name) = line.trim_start().split_once(": ")?;
        number.parse::<usize>().is_ok().then(|| name.to_owned())
    });
    let outside = names.filter(|name| !OWN.iter().any(|own| name.contains(own)));
    outside.take(CALLERS).collect()
}
