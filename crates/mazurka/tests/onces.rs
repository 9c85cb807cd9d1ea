//! Threads that only wait for an initialization by another thread.

mod outcomes;

use mazurka::sync::{Arc, Once, OnceLock};
use mazurka::{Checker, FailureKind, Verdict, thread};
use outcomes::outcomes;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

#[test]
fn a_thread_that_waits_for_a_value_gets_it() {
    let report = Checker::new().check(|| {
        let cell = Arc::new(OnceLock::new());
        let other = Arc::clone(&cell);
        let writer = thread::spawn(move || other.set(7).unwrap());
        assert_eq!(*cell.wait(), 7);
        writer.join().unwrap();
    });
    assert_eq!(report.verdict, Verdict::Verified, "{report}");
    assert_eq!(report.executions, 1, "a wait is no access");
}

#[test]
fn waiting_for_a_once_that_is_never_initialized_deadlocks() {
    let report = Checker::new().check(|| Once::new().wait());
    assert_eq!(report.errors[0].kind, FailureKind::Deadlock);
}

/// Returns the outcomes of a wait that runs while an initializer panics. If `is_repeated`, a second
/// initializer follows.
fn wait_during_a_panic(force: bool, is_repeated: bool) -> BTreeSet<bool> {
    outcomes(move || {
        let once = Arc::new(Once::new());
        let other = Arc::clone(&once);
        let initializer = thread::spawn(move || {
            let fails = || other.call_once(|| resume_unwind(Box::new("no")));
            catch_unwind(AssertUnwindSafe(fails)).unwrap_err();
            if is_repeated {
                other.call_once_force(|_| ());
            }
        });
        let wait = || match force {
            true => once.wait_force(),
            false => once.wait(),
        };
        let is_done = catch_unwind(AssertUnwindSafe(wait)).is_ok();
        initializer.join().unwrap();
        is_done
    })
}

#[test]
fn a_wait_for_an_initializer_that_panics_panics() {
    assert_eq!(wait_during_a_panic(false, false), BTreeSet::from([false]));
}

#[test]
fn a_wait_that_begins_after_the_panic_finds_the_second_initializer() {
    let both = BTreeSet::from([false, true]);
    assert_eq!(wait_during_a_panic(false, true), both);
}

#[test]
fn a_forced_wait_does_not_mind_panics() {
    assert_eq!(wait_during_a_panic(true, true), BTreeSet::from([true]));
}
