//! Start and end of enforcement in programs that begin it in `main`: programs in Rust.

use crate::{ENFORCE, Order, enforcement, own};

// The command recognizes binaries with this code by an ELF note (see `native::Binary`). `strip`
// keeps the note.
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

/// Removes a variable from the environment, so that child processes do not inherit it. Returns
/// its value.
///
/// No other thread may read or change the environment meanwhile.
pub fn take_variable(name: &str) -> Option<String> {
    let value = std::env::var(name).ok()?;
    // SAFETY: callers run at the start of the program, where no other thread uses the environment.
    unsafe { std::env::remove_var(name) };
    Some(value)
}

/// Makes the calling thread the main thread of an enforced program if the environment contains an
/// [`Order`]. Returns whether it contains one.
///
/// No other thread may read or change the environment meanwhile.
///
/// # Errors
/// Returns an error, with a one-line message for the user, if the order in the environment cannot
/// be carried out.
pub fn start_from_environment() -> Result<bool, String> {
    let Some(text) = take_variable(ENFORCE) else {
        return Ok(false);
    };
    let order =
        Order::read(&text).map_err(|error| format!("{ENFORCE} is not a valid order: {error}"))?;
    enforcement::start(order)?;
    atexit(leave);
    // SAFETY: the function can be called at any time.
    unsafe { pthread_atfork(None, None, Some(leave_parent)) };
    Ok(true)
}

/// Checks whether the calling thread is enforced.
pub fn is_enforced() -> bool {
    own::own().thread().is_some()
}

extern "C" fn leave() {
    enforcement::leave();
}

unsafe extern "C" fn leave_parent() {
    enforcement::off();
}
