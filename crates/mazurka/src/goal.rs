//! Goals that some execution must reach.

/// A goal that at least one execution must reach.
///
/// An assertion must hold in every interleaving; a goal must be reached in at least one. So a test
/// can show that its threads interact at all, that a rare case is not excluded by mistake, or which
/// outcomes exist. A goal that no execution reaches is a bug if the search is complete;
/// [`Report::goals`](crate::Report) lists the goals. If the search was bounded, the goal is
/// reported as not reached so far.
///
/// ```
/// use mazurka::sync::Arc;
/// use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
/// use mazurka::{Checker, Goal, Verdict, thread};
///
/// let report = Checker::new().check(|| {
///     let early = Goal::new("the flag is read before it is set");
///     let twice = Goal::new("the flag is 2");
///     let flag = Arc::new(AtomicU32::new(0));
///     let other = thread::spawn({
///         let flag = Arc::clone(&flag);
///         move || flag.store(1, SeqCst)
///     });
///     match flag.load(SeqCst) {
///         0 => early.reach(),
///         2 => twice.reach(),
///         _ => {}
///     }
///     other.join().unwrap();
/// });
/// assert_eq!(report.verdict, Verdict::Bug);
/// let reached: Vec<bool> = report.goals.iter().map(|goal| goal.is_reached).collect();
/// assert_eq!(reached, [true, false]);
/// ```
///
/// Create a goal in code that every execution runs, preferably at the start of the program: a goal
/// that no execution creates is not reported. Neither creating nor reaching a goal is an operation,
/// so goals add no executions. Goals with the same name are the same goal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Goal {
    name: &'static str,
}

impl Goal {
    /// Creates a goal. The name tells the reader of a report what holds when the goal is reached.
    ///
    /// # Panics
    ///
    /// Panics outside a model, like [`Goal::reach`].
    #[track_caller]
    pub fn new(name: &'static str) -> Goal {
        runtime::goal(name);
        Goal { name }
    }

    /// Records that the execution has reached the goal.
    #[track_caller]
    pub fn reach(self) {
        runtime::reach(self.name);
    }
}
