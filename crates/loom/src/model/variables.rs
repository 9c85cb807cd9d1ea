//! Values of environment variables.

use std::str::FromStr;

/// Returns the value of an environment variable, or `None` if it is not set or not Unicode. Panics
/// if the value is not a number.
#[track_caller]
pub(super) fn variable<T: FromStr>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok()?;
    match text.parse() {
        Ok(value) => Some(value),
        Err(_) => {
            panic!("{name} is {text:?}, which is not a number: unset it or set it to a number")
        }
    }
}
