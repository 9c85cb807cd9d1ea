//! What some execution has to come to.

/// Something that some execution has to come to: that it can happen is checked, too.
///
/// An assertion says what holds in every interleaving; a goal is reached in at least one. So a test shows that
/// its threads meet at all, that a rare case is not excluded by mistake, or which outcomes there are. If the
/// search is complete and no execution came to the goal, that is a bug ([`Report::goals`](crate::Report)
/// tells which); if it was bounded, the goal is reported as not reached so far.
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
/// A goal is made where every execution comes by, at best at the start of the program: of one that no execution
/// makes nobody knows. Making and reaching it are no operations, so goals add no executions. Two goals of
/// one name are one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Goal {
    name: &'static str,
}

impl Goal {
    /// A goal with a name for people: what is so when it is reached.
    ///
    /// # Panics
    ///
    /// Outside a model, as [`Goal::reach`] does.
    #[track_caller]
    pub fn new(name: &'static str) -> Goal {
        runtime::goal(name);
        Goal { name }
    }

    /// The execution has come to the goal.
    #[track_caller]
    pub fn reach(self) {
        runtime::reach(self.name);
    }
}
