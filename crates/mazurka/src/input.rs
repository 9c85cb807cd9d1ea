//! Inputs that a program declares.

use report::{INPUT, Inputs};
use std::ops::RangeInclusive;
use std::sync::OnceLock;

/// The values of the inputs that a verification is for.
static KNOWN: OnceLock<Inputs> = OnceLock::new();

/// A verification is for these values.
#[cfg(feature = "enforce")]
pub(crate) fn know(inputs: &Inputs) {
    KNOWN.get_or_init(|| inputs.clone());
}

/// The value of an input of the program.
///
/// A check tries every value of the range, as [`choose`](crate::choose) does. `mazurka verify` verifies one value after the other, and
/// merges those with equal constraints under a condition. In a run it is what `--input name=value` says, or `MAZURKA_INPUT_name` in
/// the environment, and the lowest value if neither does.
///
/// ```
/// use mazurka::{Checker, input};
///
/// let report = Checker::new().check(|| assert!(input("threads", 1..=3) < 4));
/// assert_eq!(report.executions, 3);
/// ```
///
/// # Panics
///
/// In a model, if the range is empty or has more than 2^32 values.
#[track_caller]
pub fn input(name: &str, range: RangeInclusive<i64>) -> i64 {
    let (lowest, highest) = (*range.start(), *range.end());
    if !runtime::is_in_model() {
        return given(name).unwrap_or(lowest);
    }
    let ways = highest.checked_sub(lowest);
    let ways = ways.and_then(|last| u32::try_from(last).ok()?.checked_add(1));
    let Some(ways) = ways else {
        panic!("the input {name} has no value, or more than 2^32: {lowest} to {highest}");
    };
    match KNOWN.get() {
        None => lowest + i64::from(runtime::choose(ways)),
        Some(known) => known
            .get(name)
            .copied()
            .unwrap_or_else(|| ask(name, lowest, highest)),
    }
}

#[cfg(feature = "enforce")]
fn ask(name: &str, lowest: i64, highest: i64) -> i64 {
    let name = name.to_owned();
    crate::program::ask(report::Input {
        name,
        lowest,
        highest,
    })
}

/// Nobody knows inputs, so nobody lacks one.
#[cfg(not(feature = "enforce"))]
fn ask(_name: &str, lowest: i64, _highest: i64) -> i64 {
    lowest
}

/// The value of an input in a run: the one that is enforced, or what the environment says.
fn given(name: &str) -> Option<i64> {
    #[cfg(feature = "enforce")]
    if let Some(value) = enforce::input(name) {
        return Some(value);
    }
    std::env::var(format!("{INPUT}{name}")).ok()?.parse().ok()
}
