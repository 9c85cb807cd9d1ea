//! Inputs that a program declares.

use report::{INPUT, Inputs};
use std::ops::RangeInclusive;
use std::sync::OnceLock;

/// The input values that are being verified.
static KNOWN: OnceLock<Inputs> = OnceLock::new();

/// Sets the input values to verify.
#[cfg(feature = "enforce")]
pub(crate) fn know(inputs: &Inputs) {
    KNOWN.get_or_init(|| inputs.clone());
}

/// Returns the value of an input of the program.
///
/// A check tries every value of the range, as [`choose`](crate::choose) does. `mazurka verify`
/// verifies each value. If several values lead to the same constraints on the order of events, the
/// result contains these constraints once, with a condition on the inputs. Outside a model, the
/// value comes from `--input name=value` of `mazurka run`, otherwise from the environment variable
/// `MAZURKA_INPUT_name`, and otherwise is the lowest value.
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
/// In a model, panics if the range is empty or has more than 2^32 values.
#[track_caller]
pub fn input(name: &str, range: RangeInclusive<i64>) -> i64 {
    let (lowest, highest) = (*range.start(), *range.end());
    if !runtime::is_in_model() {
        return given(name).unwrap_or(lowest);
    }
    let ways = highest.checked_sub(lowest);
    let ways = ways.and_then(|last| u32::try_from(last).ok()?.checked_add(1));
    let Some(ways) = ways else {
        panic!("the input {name} has no values, or more than 2^32: {lowest} to {highest}");
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

/// Without the feature `enforce` no values are ever set, so this is never called.
#[cfg(not(feature = "enforce"))]
fn ask(_name: &str, lowest: i64, _highest: i64) -> i64 {
    lowest
}

/// Returns the value of an input in a run: the enforced value, or else the value in the
/// environment. Returns `None` if there is neither, or if the value in the environment is not a
/// number.
fn given(name: &str) -> Option<i64> {
    #[cfg(feature = "enforce")]
    if let Some(value) = enforce::input(name) {
        return Some(value);
    }
    std::env::var(format!("{INPUT}{name}")).ok()?.parse().ok()
}
