//! The checker: what to search, how, and how far.

mod accepting;
mod as_json;
mod audit;
mod brake;
mod by_hand;
mod checkpoint;
mod configuration;
mod contradiction;
mod coverage;
mod determinism;
mod errands;
mod error;
mod explaining;
mod failures;
mod findings;
mod jobs;
mod ledger;
mod limits;
mod linearisation;
mod measured;
mod memory;
mod numbering;
mod order;
mod part;
mod refit;
mod repeat;
mod sample;
mod search;
mod settings;
mod shortening;
mod slicing;
mod slots;
mod tally;
mod unhinted_spin;
mod verification;

pub use errands::{Division, Errand, shorter as shorter_errand};
pub use error::CheckError;
pub use jobs::Jobs;
pub use measured::Measured;
pub use verification::{Preference, Verified};

use checkpoint::{State, refused_if_contradictory};
use explore::{Algorithm, Observer, Preemptions, States};
use report::{FailureKind, Interleaving, Position, Report, ScheduleFile, Suppression, Visit};
use runtime::contained;
use runtime::native::{Memory, SourceMap};
use search::Search;
use settings::Settings;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Checks a concurrent program: explores its interleavings, and tells what it found.
///
/// ```
/// use mazurka::sync::Arc;
/// use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
/// use mazurka::{Checker, Verdict, thread};
///
/// let report = Checker::new().check(|| {
///     let count = Arc::new(AtomicU32::new(0));
///     let other = thread::spawn({
///         let count = Arc::clone(&count);
///         move || count.store(count.load(SeqCst) + 1, SeqCst)
///     });
///     count.store(count.load(SeqCst) + 1, SeqCst);
///     other.join().unwrap();
///     assert_eq!(count.load(SeqCst), 2, "an update was lost");
/// });
/// assert_eq!(report.verdict, Verdict::Bug);
/// assert!(report.errors[0].message.contains("an update was lost"));
/// ```
pub struct Checker {
    pub(crate) settings: Settings,
    observer: Box<dyn Observer>,
}

impl Default for Checker {
    fn default() -> Checker {
        Checker::new()
    }
}

impl Checker {
    /// The default: [`Algorithm::Parsimonious`] until the program is verified or the first bug is found.
    pub fn new() -> Checker {
        Checker {
            settings: Settings::new(),
            observer: Box::new(()),
        }
    }

    /// For a front-end with a command line: reports call options as they are typed there.
    #[doc(hidden)]
    pub fn of_command(mut self) -> Checker {
        self.settings.is_commanded = true;
        self
    }

    /// These findings are not reported as bugs: the report only counts them.
    pub fn suppress(mut self, suppressions: impl IntoIterator<Item = Suppression>) -> Checker {
        self.settings.suppressions.extend(suppressions);
        self
    }

    /// How to search. `random` and `pct` try 10,000 executions unless a limit is set.
    pub fn algorithm(mut self, algorithm: Algorithm) -> Checker {
        self.settings.algorithm = algorithm;
        self
    }

    /// Stops after as many executions; the verdict is then at best `bounded`.
    pub fn max_executions(mut self, executions: u64) -> Checker {
        self.settings.max_executions = Some(executions);
        self
    }

    /// Stops after this time; the verdict is then at best `bounded`.
    pub fn time_limit(mut self, limit: Duration) -> Checker {
        self.settings.time_limit = Some(limit);
        self
    }

    /// Leaves out executions in which running threads are preempted more often than this; to move after a thread has called
    /// `yield_now` or `spin_loop` is no preemption. A range from a number on begins with it and
    /// allows one more until no execution is left out: then the first bug is shown with as few preemptions as possible.
    ///
    /// ```
    /// use mazurka::{Checker, Verdict};
    ///
    /// let report = Checker::new().preemptions(0..).check(|| {
    ///     let thread = mazurka::thread::spawn(|| ());
    ///     thread.join().unwrap();
    /// });
    /// assert_eq!(report.verdict, Verdict::Verified);
    /// ```
    pub fn preemptions(mut self, preemptions: impl Into<Preemptions>) -> Checker {
        self.settings.options.preemptions = Some(preemptions.into());
        self
    }

    /// The seed of `random` and `pct`; the same seed, the same executions.
    pub fn seed(mut self, seed: u64) -> Checker {
        self.settings.options.seed = seed;
        self.settings.seed_is_set = true;
        self
    }

    /// Lets [`Algorithm::ContextSensitive`] anticipate cuts as its paper does. That loses executions, so
    /// the verdict is at best `bounded`.
    pub fn published_cuts(mut self, anticipates: bool) -> Checker {
        self.settings.options.published_cuts = anticipates;
        self
    }

    /// How [`Algorithm::ContextSensitive`] finds that two orders lead to the same state.
    pub fn states(mut self, states: States) -> Checker {
        self.settings.options.states = states;
        self
    }

    /// Goes on after a bug, and reports each distinct one.
    pub fn keep_going(mut self, keeps_going: bool) -> Checker {
        self.settings.keeps_going = keeps_going;
        self
    }

    /// How many executions may be spent after the first failure (default 100): of those that fail likewise the one
    /// with the fewest context switches is shown. Never more than the search took until then and ten besides, and
    /// none with [`Checker::keep_going`]. They are in no other number of the report.
    pub fn extra(mut self, executions: u64) -> Checker {
        self.settings.extra = executions;
        self
    }

    /// Finds out why an execution fails, by some more executions in which races of it are turned round: which orders of events all
    /// those that fail have, and which passing execution has most in common with it ([`report::Why`]).
    pub fn explain(mut self, explains: bool) -> Checker {
        self.settings.explains = explains;
        self
    }

    /// Puts the tree of the search into the report: where its first executions, at most 1,000, leave the one before ([`report::Tree`]).
    /// They are run once more for that.
    pub fn draw(mut self, draws: bool) -> Checker {
        self.settings.draws = draws;
        self
    }

    /// A thread that has performed as many operations stops there (default 10,000).
    pub fn max_events(mut self, events: u32) -> Checker {
        self.settings.conditions.max_events = events;
        self
    }

    /// How many timed operations may expire per thread (default 2); at the next one it stops.
    pub fn timeouts(mut self, timeouts: u32) -> Checker {
        self.settings.conditions.timeouts = timeouts;
        self
    }

    /// How often per thread a weak compare-exchange fails, or a wait for a condition variable or [`park`](crate::thread::park) ends, for
    /// no reason: a choice each time (default 0).
    pub fn spurious(mut self, times: u32) -> Checker {
        self.settings.conditions.spurious = times;
        self
    }

    /// How many allocations per thread of a native program may get a block of the heap that was freed: a choice each time (default 0).
    pub fn reuse(mut self, times: u32) -> Checker {
        self.settings.conditions.reuse = times;
        self
    }

    /// Makes each panic a failure. By default one that `join` returns as `Err` is behaviour.
    pub fn panics_fail(mut self, fail: bool) -> Checker {
        self.settings.conditions.panics_fail = fail;
        self
    }

    /// Threads that still wait when the main thread has returned are no error.
    pub fn waiting_after_main(mut self, may_wait: bool) -> Checker {
        self.settings.conditions.waiting_after_main = may_wait;
        self
    }

    /// Whether an [`Arc`](crate::sync::Arc) or memory of [`alloc`](mod@crate::alloc) that is never dropped is a failure (by default it is).
    pub fn leaks_fail(mut self, fail: bool) -> Checker {
        self.settings.leaks_fail = fail;
        self
    }

    /// For programs that look at the clock in a loop: a thread that has joined all others runs this many rounds before it
    /// counts as stuck (default 0).
    pub fn waits_alone(mut self, rounds: u32) -> Checker {
        self.settings.waits_alone = rounds;
        self
    }

    /// The name of the program in reports, schedule files and checkpoints.
    pub fn name(mut self, name: &str) -> Checker {
        self.settings.name = name.to_owned();
        self
    }

    /// Where to save the schedule of the first failure.
    pub fn schedule_file(mut self, path: impl Into<PathBuf>) -> Checker {
        self.settings.schedule_file = Some(path.into());
        self
    }

    /// Saves the whole state of the search to this file after every execution.
    pub fn checkpoint(mut self, path: impl Into<PathBuf>) -> Checker {
        self.settings.checkpoint = Some(path.into());
        self
    }

    /// Saves the state that [`Checker::checkpoint`] saves only after as many executions, and at the end.
    pub fn checkpoint_interval(mut self, executions: u64) -> Checker {
        self.settings.checkpoint_interval = executions.max(1);
        self
    }

    /// Whether the interleaving of a failure tells where each operation stands, which it does unless this says otherwise.
    pub fn locations(mut self, are_shown: bool) -> Checker {
        self.settings.locations = are_shown;
        self
    }

    /// Whether interleavings are explored from the beginning on. Else only once the program calls
    /// [`explore`](crate::explore), as with loom's `expect_explicit_explore`.
    pub fn explores(mut self, from_the_beginning: bool) -> Checker {
        self.settings.explores = from_the_beginning;
        self
    }

    /// An execution that starts more threads than this, the main thread among them, is a failure. No limit unless it is set.
    pub fn max_threads(mut self, threads: usize) -> Checker {
        self.settings.max_threads = threads;
        self
    }

    /// Goes on from the state that a killed or stopped search saved by [`Checker::checkpoint`].
    pub fn resume(mut self, path: impl Into<PathBuf>) -> Checker {
        self.settings.resume = Some(path.into());
        self
    }

    /// Watches the search.
    pub fn observer(mut self, observer: impl Observer + 'static) -> Checker {
        self.observer = Box::new(observer);
        self
    }

    /// Stops the search, as a time limit does, once the flag is set.
    pub fn stop(mut self, stop: Arc<AtomicBool>) -> Checker {
        self.settings.stops.push(stop);
        self
    }

    /// Keeps what the search has done in this file of [`report::Trail::BYTES`] bytes, each step before it is performed: for
    /// programs that may take the process down. [`report::Trailed`] reads it.
    pub fn trail(mut self, path: impl Into<PathBuf>) -> Checker {
        self.settings.trail = Some(path.into());
        self
    }

    /// How long a thread may be blocked in a lock that is not of Mazurka, or run on without an operation, before that is a
    /// failure, and how long a search may go on in which threads reach the default of [`max_events`](Checker::max_events)
    /// (default 5 s). Threads that are blocked or run on are noticed on Linux with x86-64.
    pub fn patience(mut self, patience: Duration) -> Checker {
        self.settings.patience = Some(patience);
        self
    }

    /// For a front-end of programs in machine code: how their addresses are called, and their memory. From then on
    /// threads that wait when the main thread has returned are no error.
    pub fn native(
        mut self,
        source_map: &'static dyn SourceMap,
        memory: &'static dyn Memory,
    ) -> Checker {
        self.settings.conditions.waiting_after_main = true;
        self.settings.native = Some((source_map, memory));
        self
    }

    /// How many bytes the stack of each thread has (default 256 KiB), the main thread's among them.
    pub fn stack_size(mut self, bytes: usize) -> Checker {
        self.settings.stack_size = Some(bytes);
        self
    }

    /// Makes plain accesses of a native program events, as if they were atomic; by default they must not race.
    pub fn interleave_plain(mut self, interleaves: bool) -> Checker {
        self.settings.conditions.interleaves_plain = interleaves;
        self
    }

    /// A thread of a native program that comes by one place that reads more often than this stops there. So does a thread of a
    /// model that goes more often (by default once) round a spin loop without progress, while others notice what it
    /// does before it undoes that: two threads may do so for ever.
    pub fn unroll(mut self, rounds: u32) -> Checker {
        self.settings.conditions.unroll = Some(rounds);
        self
    }

    /// Checks the program.
    ///
    /// # Panics
    ///
    /// If the check cannot be done: see [`CheckError`]. A bug of the program is no reason.
    #[track_caller]
    pub fn check(self, program: impl Fn() + 'static) -> Report {
        match self.try_check(program) {
            Ok(report) => report,
            Err(error) => panic!("{error}"),
        }
    }

    /// Checks the program.
    pub fn try_check(self, program: impl Fn() + 'static) -> Result<Report, CheckError> {
        self.settings.contradiction()?;
        let resume = self.settings.resume.clone();
        let saved = State::of(&self.settings)?;
        let is_divided = saved
            .as_ref()
            .is_some_and(|(state, _)| state.parts.is_some());
        refused_if_contradictory(resume, || match is_divided {
            true => {
                let program = Rc::new(program);
                jobs::search(self, saved, 1, move || program(), |_, _| Vec::new())
            }
            false => Search::from(self, saved, program)?.run(),
        })
    }

    /// Runs one saved schedule again.
    ///
    /// ```
    /// use mazurka::{Checker, choose};
    ///
    /// let program = || assert_ne!(choose(3), 2);
    /// let found = Checker::new().check(program);
    /// let again = Checker::new().replay(&found.errors[0].schedule, program).unwrap();
    /// assert_eq!(again.errors[0].message, found.errors[0].message);
    /// assert_eq!(again.executions, 1);
    /// ```
    pub fn replay(
        mut self,
        schedule: &ScheduleFile,
        program: impl Fn() + 'static,
    ) -> Result<Report, CheckError> {
        self.settings.conditions = schedule.conditions;
        self.settings.has_room()?;
        contained(|| Search::new(self, program)?.replay(schedule))
            .unwrap_or_else(|| Err(CheckError::Misfit("it contradicts itself".to_owned())))
    }

    /// What comes before the last step of a schedule of accesses, for people: that step ended the process in which it was run.
    ///
    /// # Errors
    ///
    /// As [`replay`](Checker::replay).
    pub fn interleaving_before_last(
        mut self,
        schedule: &ScheduleFile,
        program: impl Fn() + 'static,
    ) -> Result<Interleaving, CheckError> {
        self.settings.conditions = schedule.conditions;
        self.settings.has_room()?;
        Search::new(self, program)?.before_last(schedule)
    }

    /// Where the execution of a schedule stands, and what may come next. The schedule may be that of no step.
    ///
    /// # Errors
    ///
    /// As [`replay`](Checker::replay); and if two events are to be turned round that do not race.
    pub fn position(
        mut self,
        schedule: &ScheduleFile,
        visit: &Visit,
        program: impl Fn() + 'static,
    ) -> Result<Position, CheckError> {
        self.settings.conditions = schedule.conditions;
        self.settings.has_room()?;
        contained(|| Search::new(self, program)?.position(schedule, visit))
            .unwrap_or_else(|| Err(CheckError::Misfit("it contradicts itself".to_owned())))
    }

    /// The schedule of no step, from which a person goes on.
    pub fn beginning(&self) -> ScheduleFile {
        ScheduleFile {
            program: self.settings.name.clone(),
            kind: FailureKind::Panic,
            message: String::new(),
            conditions: self.settings.conditions,
            coarse: Vec::new(),
            recipe: None,
            by_accesses: false,
            steps: Vec::new(),
        }
    }
}
