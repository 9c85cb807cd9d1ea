//! Compares the result of a check with the behaviour of a program.

use crate::check::{Checked, Way};
use std::collections::BTreeSet;
use std::fmt;
use testkit::c_program::machine::Behaviour;

/// A difference, described for the user.
#[derive(Debug)]
pub struct Difference(pub String);

impl Difference {
    /// Checks whether the check reports an endless wait or spin that the interpreter does not find.
    pub fn waits_for_ever(&self) -> bool {
        self.0.starts_with("false deadlock") || self.0.starts_with("endless")
    }

    /// Checks whether the check misses an outcome of the interpreter.
    pub fn misses_outcome(&self) -> bool {
        self.0.starts_with("missed outcome")
    }

    /// Checks whether both differences are of the same kind, which the text up to the colon names.
    pub fn is_like(&self, other: &Difference) -> bool {
        let kind = |text: &str| text.split(':').next().map(str::to_owned);
        kind(&self.0) == kind(&other.0)
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The prefix of a difference in which the check reports a race that the program does not have.
pub const FALSE_RACE: &str = "false race";

/// Compares a check with the interpreter. Returns the group in which the check is counted. In some
/// groups, comparisons are left out, for example because optimizing compilers may drop or move
/// racing accesses.
pub fn compare(
    behaviour: &Behaviour,
    checked: &Checked,
    way: &Way,
    optimizes: bool,
) -> Result<&'static str, Difference> {
    let differ = |text: String| Err(Difference(text));
    let has = |kind: &str| checked.failures.iter().any(|failure| failure.0 == kind);
    let has_race = has("data_race") || has("misuse");
    let has_deadlock = has("deadlock") || has("stuck");
    let is_other = |failure: &&(String, String)| {
        !["data_race", "misuse", "deadlock", "stuck"].contains(&failure.0.as_str())
    };
    let raced = behaviour.has_race && !way.interleaves_plain || behaviour.has_race_of_objects;
    if has_race && !raced {
        let text = message(checked, "data_race") + &message(checked, "misuse");
        return differ(format!("{FALSE_RACE}: {text}"));
    }
    // After a race any behaviour is possible.
    if has_race {
        return Ok("checks that find the race");
    }
    if let Some(failure) = checked.failures.iter().find(is_other) {
        return differ(format!("{}: {}", failure.0, failure.1));
    }
    if has_deadlock && !behaviour.has_deadlock && !raced {
        let text = message(checked, "deadlock") + &message(checked, "stuck");
        return differ(format!("false deadlock: {text}"));
    }
    if !raced && let Some(outcome) = checked.outcomes.difference(&behaviour.outcomes).next() {
        return differ(format!("impossible outcome: {outcome}"));
    }
    let limits: BTreeSet<&str> = checked.limits.iter().map(String::as_str).collect();
    if limits.contains("executions") || limits.contains("time") {
        return Ok("checks that are too large");
    }
    if limits.contains("events") && !way.is_without("await-rule") {
        return differ("endless: a thread spins until its limit of operations".to_owned());
    }
    if limits.contains("events") || limits.contains("timeouts") {
        return Ok("partly compared checks");
    }
    if raced && optimizes && !behaviour.has_race_of_objects {
        return Ok("checks of races that the compiler may have removed");
    }
    if raced {
        return differ("missed race: the verdict is ".to_owned() + &checked.verdict);
    }
    if let Some(outcome) = behaviour.outcomes.difference(&checked.outcomes).next() {
        return differ(format!("missed outcome: {outcome}"));
    }
    if behaviour.has_deadlock && !has_deadlock {
        return differ("missed deadlock: the verdict is ".to_owned() + &checked.verdict);
    }
    Ok("checks that agree")
}

fn message(checked: &Checked, kind: &str) -> String {
    let mut failures = checked.failures.iter();
    let failure = failures.find(|failure| failure.0 == kind);
    failure.map_or_else(String::new, |failure| failure.1.clone())
}
