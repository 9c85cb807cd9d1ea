//! The start of a program that is enforced, that is, runs under a safe trace.

use super::threads;
use crate::start::Main;
use crate::unknown_calls;
use enforce::Order;
use libc::{c_char, c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// Whether the program is enforced; 0 if unknown.
static MODE: AtomicU8 = AtomicU8::new(0);
const USUAL: u8 = 1;
const ENFORCED: u8 = 2;

static MAIN: OnceLock<Main> = OnceLock::new();

/// Checks whether the environment requests enforcement.
pub(crate) fn is_on() -> bool {
    let mode = match MODE.load(Relaxed) {
        0 => read_mode(),
        mode => mode,
    };
    mode == ENFORCED
}

#[cold]
fn read_mode() -> u8 {
    const NAME: &std::ffi::CStr = c"MAZURKA_ENFORCE";
    debug_assert_eq!(NAME.to_str(), Ok(enforce::ENFORCE));
    // SAFETY: a valid name; no thread changes the environment while libraries start.
    let is_there = unsafe { !libc::getenv(NAME.as_ptr()).is_null() };
    let mode = if is_there { ENFORCED } else { USUAL };
    MODE.store(mode, Relaxed);
    mode
}

/// Arranges that [`enforced_main`] is called in place of the program's `main`, and [`leave`] at the
/// very end.
pub(crate) fn run(main: Main) -> Main {
    MAIN.get_or_init(|| main);
    original!(__cxa_atexit(leave, std::ptr::null_mut(), std::ptr::null_mut()):
        fn(unsafe extern "C-unwind" fn(*mut c_void), *mut c_void, *mut c_void) -> c_int);
    enforced_main
}

unsafe extern "C-unwind" fn leave(_: *mut c_void) {
    enforce::leave();
}

/// Replaces the program's `main`. Called after the program's constructors have run.
unsafe extern "C-unwind" fn enforced_main(
    count: c_int,
    arguments: *mut *mut c_char,
    environment: *mut *mut c_char,
) -> c_int {
    let text = std::env::var(enforce::ENFORCE).unwrap_or_default();
    // SAFETY: no thread of this library runs yet. The variable is removed, so that processes that
    // this process starts are not enforced.
    unsafe { std::env::remove_var(enforce::ENFORCE) };
    threads::prepare();
    let started = Order::read(&text)
        .map_err(|error| format!("{} is not a valid order: {error}", enforce::ENFORCE))
        .and_then(enforce::start);
    if let Err(reason) = started {
        enforce::fail(&reason);
    }
    threads::keep_main();
    if let Err(reason) = unknown_calls::report_events(enforce::counts_plain()) {
        enforce::fail(&reason);
    }
    let main = MAIN
        .get()
        .expect("the program's main was recorded at its start");
    // SAFETY: the arguments are those of the C library.
    unsafe { main(count, arguments, environment) }
}
