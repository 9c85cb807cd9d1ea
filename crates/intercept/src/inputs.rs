//! Inputs that a program declares. A check tries every value of the range. A verification is for
//! one value of each input. A run under a safe trace takes the value from the trace, any other run
//! from the environment.

use crate::gate::{close, code, is_inside};
use crate::worker;
use enforce::INPUT;
use libc::c_char;
use report::{FailureKind, Input, Inputs};
use runtime::native;
use std::ffi::CStr;
use std::sync::OnceLock;

/// The values of the inputs for the current verification. Not set in a check.
static KNOWN: OnceLock<Inputs> = OnceLock::new();

/// Sets the values of the inputs for a verification.
pub(crate) fn know(inputs: &Inputs) {
    KNOWN.get_or_init(|| inputs.clone());
}

export! {
    placed fn mazurka_input(name: *const c_char, lowest: i64, highest: i64) -> i64 {
        // Called only where no event follows, because the text may be on the heap.
        // SAFETY: the program passes a terminated string.
        let name = || unsafe { CStr::from_ptr(name) }.to_string_lossy();
        if !is_inside() {
            return given(&name()).unwrap_or(lowest);
        }
        let (code, _closed) = (code(), close());
        let ways = highest.checked_sub(lowest).and_then(|last| u32::try_from(last).ok()?.checked_add(1));
        let Some(ways) = ways else {
            let name = name();
            let message = format!("the input {name} has no values, or more than 2^32: {lowest} to {highest}");
            native::fail(code, FailureKind::Misuse, message);
        };
        let Some(known) = KNOWN.get() else {
            return lowest + i64::from(native::at(code, || runtime::choose(ways)));
        };
        match known.get(&*name()) {
            Some(&value) => value,
            None => worker::ask(Input { name: name().into_owned(), lowest, highest }),
        }
    }
}

/// Returns the value of an input in a run: the value from the safe trace, or else the value in the
/// environment. Returns `None` if there is neither.
fn given(name: &str) -> Option<i64> {
    let of_environment = || std::env::var(format!("{INPUT}{name}")).ok()?.parse().ok();
    enforce::input(name).or_else(of_environment)
}
