//! Nondeterminism that the program asks for.

/// One of the values from 0 to `alternatives - 1`: all of them are explored.
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
/// If there are no alternatives.
#[track_caller]
pub fn choose(alternatives: u32) -> u32 {
    assert!(
        alternatives > 0,
        "choose(0): there is nothing to choose from"
    );
    runtime::choose(alternatives)
}

/// Says something in the trace of a failure, at the place of the caller: a value, say. In executions that are not shown
/// the closure does not run. It must perform no operations.
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

/// Ends the thread here unless the condition holds; executions in which it does not count as halted.
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

/// As loom's: nothing else is tried in the place of the operations from here on, whichever thread performs them, until
/// [`explore()`] is called. That saves time where a model sets up what it checks, and it may hide a bug: the verdict is
/// `bounded`. With all algorithms but `random` and `pct`, which refuse it.
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
/// Outside a model.
#[track_caller]
pub fn stop_exploring() {
    runtime::stop_exploring();
}

/// As loom's: ends what [`stop_exploring`] began.
///
/// # Panics
///
/// Outside a model.
#[track_caller]
pub fn explore() {
    runtime::explore();
}

/// As loom's: nothing else is tried in the place of what is left of the execution. The verdict is `bounded`.
///
/// # Panics
///
/// Outside a model.
#[track_caller]
pub fn skip_branch() {
    runtime::skip_branch();
}

/// Gives the thread up: while the execution is torn down it would need what another thread does not
/// give any more.
pub(crate) fn torn_down() -> ! {
    loop {
        runtime::assume(false);
    }
}
