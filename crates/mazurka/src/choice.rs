//! Explicit nondeterminism of the program.

/// Returns one of the values from 0 to `alternatives - 1`. All of them are explored.
///
/// ```
/// use mazurka::{Checker, choose};
///
/// let report = Checker::new().check(|| assert!(choose(2) + choose(3) < 4));
/// assert_eq!(report.executions, 6);
/// ```
///
/// # Panics
///
/// Panics if `alternatives` is 0.
#[track_caller]
pub fn choose(alternatives: u32) -> u32 {
    assert!(
        alternatives > 0,
        "choose(0): there is nothing to choose from"
    );
    runtime::choose(alternatives)
}

/// Adds a text, for example a value, to the trace of a failure, with the source location of the
/// caller. The closure runs only in executions that the report shows. It must not perform
/// operations on shared objects.
///
/// ```
/// use mazurka::sync::Mutex;
/// use mazurka::thread;
///
/// let report = mazurka::Checker::new().check(|| {
///     let names = Mutex::new(vec!["main"]);
///     thread::scope(|scope| {
///         scope.spawn(|| {
///             let mut names = names.lock().unwrap();
///             names.push("other");
///             mazurka::note(|| format!("{names:?}"));
///         });
///     });
///     assert_eq!(names.lock().unwrap().len(), 1);
/// });
/// assert!(report.to_string().contains(r#"["main", "other"]"#), "{report}");
/// ```
#[track_caller]
pub fn note(text: impl FnOnce() -> String) {
    runtime::note(text);
}

/// Stops the current thread at this call if the condition does not hold. The other threads
/// continue. Unless one of them fails, the execution counts as halted
/// ([`Report::halted`](crate::Report::halted)), which is not a failure.
///
/// ```
/// use mazurka::{Checker, assume, choose};
///
/// let report = Checker::new().check(|| {
///     let n = choose(4);
///     assume(n != 3);
///     assert!(n < 3);
/// });
/// assert_eq!((report.executions, report.halted), (3, 1));
/// ```
#[track_caller]
pub fn assume(condition: bool) {
    runtime::assume(condition);
}

/// Switches exploration off for all threads until [`explore()`] is called, as in loom: Mazurka
/// explores no alternatives to the operations in between. This saves time while a model sets up its
/// data, but may hide a bug, so the verdict is `bounded` unless a bug is found. The algorithms
/// `random` and `pct` do not support it.
///
/// ```
/// use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
/// use mazurka::{Checker, Verdict, explore, stop_exploring, thread};
///
/// let report = Checker::new().check(|| {
///     let count = AtomicU32::new(0);
///     thread::scope(|scope| {
///         stop_exploring();
///         scope.spawn(|| count.fetch_add(1, SeqCst));
///         scope.spawn(|| count.fetch_add(1, SeqCst));
///     });
///     explore();
/// });
/// assert_eq!((report.verdict, report.executions), (Verdict::Bounded, 1));
/// ```
///
/// # Panics
///
/// Panics outside a model.
#[track_caller]
pub fn stop_exploring() {
    runtime::stop_exploring();
}

/// Resumes exploration after [`stop_exploring`], as in loom.
///
/// # Panics
///
/// Panics outside a model.
#[track_caller]
pub fn explore() {
    runtime::explore();
}

/// Explores no alternatives to the operations in the rest of the execution, as in loom. The verdict
/// is `bounded` unless a bug is found.
///
/// # Panics
///
/// Panics outside a model.
#[track_caller]
pub fn skip_branch() {
    runtime::skip_branch();
}

/// Abandons the current thread. A thread calls this if it lacks a value that another thread should
/// have provided. This happens only while an execution is *torn down*, that is, ended before all
/// threads have returned.
pub(crate) fn halt_in_tear_down() -> ! {
    loop {
        runtime::assume(false);
    }
}
