//! The start and the end of a program that comes to enforcement by itself, after its `main` has begun: one in Rust.

use crate::{ENFORCE, Order, enforcement, own};

// A note tells the command that a binary has this code: see `native::Binary`. It stays where the symbols are stripped.
std::arch::global_asm!(
    ".pushsection .note.mazurka,\"a\",@note",
    ".balign 4",
    ".long 8, 4, 1",
    ".asciz \"Mazurka\"",
    ".long 1",
    ".popsection",
);

unsafe extern "C" {
    safe fn atexit(end: extern "C" fn()) -> i32;
    fn pthread_atfork(
        prepare: Option<unsafe extern "C" fn()>,
        parent: Option<unsafe extern "C" fn()>,
        child: Option<unsafe extern "C" fn()>,
    ) -> i32;
}

/// Takes a variable out of the environment, so that programs which this one starts do not find it.
///
/// No other thread may read or change the environment meanwhile.
pub fn take_variable(name: &str) -> Option<String> {
    let value = std::env::var(name).ok()?;
    // SAFETY: as promised by the caller's place at the start of the program.
    unsafe { std::env::remove_var(name) };
    Some(value)
}

/// The calling thread becomes the main thread of an enforced program, if the environment says so; whether it does.
///
/// No other thread may read or change the environment meanwhile.
///
/// # Errors
/// If what the environment says cannot be done, in one line for people.
pub fn start_as_told() -> Result<bool, String> {
    let Some(text) = take_variable(ENFORCE) else {
        return Ok(false);
    };
    let order = Order::read(&text).map_err(|error| format!("{ENFORCE} is no order: {error}"))?;
    enforcement::start(order)?;
    atexit(leave);
    // SAFETY: the function can be called at any moment.
    unsafe { pthread_atfork(None, None, Some(leave_parent)) };
    Ok(true)
}

/// Whether the calling thread is enforced.
pub fn is_enforced() -> bool {
    own::own().thread().is_some()
}

extern "C" fn leave() {
    enforcement::leave();
}

unsafe extern "C" fn leave_parent() {
    enforcement::off();
}
