//! The entry point of tests: a check with the defaults that panics unless the program is verified.

use crate::TestCase;
use crate::test_case::name_of_test;

/// Checks the program with the defaults of [`Checker`](crate::Checker).
///
/// ```
/// use mazurka::sync::{Arc, Mutex};
/// use mazurka::thread;
///
/// mazurka::model(|| {
///     let count = Arc::new(Mutex::new(0));
///     let other = thread::spawn({
///         let count = Arc::clone(&count);
///         move || *count.lock().unwrap() += 1
///     });
///     *count.lock().unwrap() += 1;
///     other.join().unwrap();
///     assert_eq!(*count.lock().unwrap(), 2);
/// });
/// ```
///
/// A failure is saved in a schedule file, and the panic message names the file. If the environment
/// variable `MAZURKA_REPLAY` names that file, the same test runs only that schedule. It passes with
/// a note if the schedule no longer shows a bug. In a test, the report of a verified program goes
/// to standard error (`cargo test -- --nocapture` shows it). For a test that consists of one model,
/// [`macro@crate::test`] is shorter.
///
/// # Panics
///
/// Panics with the whole report if the program has a bug or the search reached a limit. Also panics
/// if the program is not deterministic.
#[track_caller]
pub fn model<F: Fn() + 'static>(program: F) {
    let is_test = name_of_test().is_some();
    TestCase::of_this_thread().verbose(is_test).run(program);
}
