//! Collects the outcomes of a program: the set of values that it returns over all its executions.

use mazurka::{Checker, Report, Style};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// Checks the program and returns the values that it returned.
#[allow(dead_code, reason = "some tests use only `explored`")]
pub fn outcomes<T: Ord + Send + 'static>(program: impl Fn() -> T + 'static) -> BTreeSet<T> {
    let (seen, report) = explored(Checker::new(), program);
    assert!(
        report.errors.is_empty(),
        "{}",
        report.text(Style::default())
    );
    assert_eq!(report.blocked, 0);
    seen
}

/// Checks the program and returns the values that it returned, with the report.
pub fn explored<T: Ord + Send + 'static>(
    checker: Checker,
    program: impl Fn() -> T + 'static,
) -> (BTreeSet<T>, Report) {
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let report = checker.check({
        let seen = Arc::clone(&seen);
        move || {
            let outcome = program();
            seen.lock().unwrap().insert(outcome);
        }
    });
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    (seen, report)
}
