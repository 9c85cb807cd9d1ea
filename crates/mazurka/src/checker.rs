//! The checker: what to search, how, and how far.

mod accepting;
mod audit;
mod brake;
mod checkpoint;
mod configuration;
mod contradiction;
mod coverage;
mod determinism;
mod error;
mod failures;
mod findings;
mod limits;
mod linearisation;
mod memory;
mod order;
mod refit;
mod repeat;
mod search;
mod shortening;
mod slots;
mod tally;
mod unhinted_spin;
mod verification;

pub use error::CheckError;
pub use verification::{Preference, Verified};

use checkpoint::CONTRADICTORY;
use explore::{Algorithm, Observer, Options, Preemptions, States};
use report::{
    Conditions, Interleaving, LeftOut, Omission, Report, ScheduleFile, Shortcut, Suppression,
};
use runtime::contained;
use runtime::native::{Memory, SourceMap};
use search::Search;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How many executions `random` and `pct` try where no limit is set.
const RANDOM_EXECUTIONS: u64 = 10_000;

/// How many executions may be spent after a failure to show a short one.
const EXTRA_EXECUTIONS: u64 = 100;

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
    pub(crate) algorithm: Algorithm,
    pub(crate) options: Options,
    pub(crate) seed_is_set: bool,
    pub(crate) conditions: Conditions,
    pub(crate) leaks_fail: bool,
    /// The options are those of the command.
    pub(crate) is_commanded: bool,
    pub(crate) accepted: Vec<Omission>,
    pub(crate) suppressions: Vec<Suppression>,
    /// What is left out whatever the program does.
    pub(crate) left_out: Vec<LeftOut>,
    pub(crate) waits_alone: u32,
    pub(crate) max_threads: usize,
    pub(crate) explores: bool,
    pub(crate) locations: bool,
    pub(crate) stack_size: Option<usize>,
    pub(crate) name: String,
    pub(crate) max_executions: Option<u64>,
    pub(crate) time_limit: Option<Duration>,
    pub(crate) keeps_going: bool,
    pub(crate) extra: u64,
    pub(crate) schedule_file: Option<PathBuf>,
    pub(crate) checkpoint: Option<PathBuf>,
    pub(crate) checkpoint_interval: u64,
    pub(crate) resume: Option<PathBuf>,
    pub(crate) observer: Box<dyn Observer>,
    pub(crate) stop: Option<Arc<AtomicBool>>,
    pub(crate) trail: Option<PathBuf>,
    pub(crate) patience: Option<Duration>,
    pub(crate) without: Vec<Shortcut>,
    pub(crate) native: Option<(&'static dyn SourceMap, &'static dyn Memory)>,
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
            algorithm: Algorithm::default(),
            options: Options::default(),
            seed_is_set: false,
            conditions: Conditions::default(),
            leaks_fail: true,
            is_commanded: false,
            accepted: Vec::new(),
            suppressions: Vec::new(),
            left_out: Vec::new(),
            waits_alone: 0,
            max_threads: usize::MAX,
            explores: true,
            locations: true,
            stack_size: None,
            name: String::new(),
            max_executions: None,
            time_limit: None,
            keeps_going: false,
            extra: EXTRA_EXECUTIONS,
            schedule_file: None,
            checkpoint: None,
            checkpoint_interval: 1,
            resume: None,
            observer: Box::new(()),
            stop: None,
            trail: None,
            patience: None,
            without: Vec::new(),
            native: None,
        }
    }

    /// For a front-end with a command line: reports call options as they are typed there.
    #[doc(hidden)]
    pub fn of_command(self) -> Checker {
        Checker {
            is_commanded: true,
            ..self
        }
    }

    /// These findings are not reported as bugs: the report only counts them.
    pub fn suppress(mut self, suppressions: impl IntoIterator<Item = Suppression>) -> Checker {
        self.suppressions.extend(suppressions);
        self
    }

    /// How to search. `random` and `pct` try 10,000 executions unless a limit is set.
    pub fn algorithm(self, algorithm: Algorithm) -> Checker {
        Checker { algorithm, ..self }
    }

    /// Stops after as many executions; the verdict is then at best `bounded`.
    pub fn max_executions(self, executions: u64) -> Checker {
        Checker {
            max_executions: Some(executions),
            ..self
        }
    }

    /// Stops after this time; the verdict is then at best `bounded`.
    pub fn time_limit(self, limit: Duration) -> Checker {
        Checker {
            time_limit: Some(limit),
            ..self
        }
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
        self.options.preemptions = Some(preemptions.into());
        self
    }

    /// The seed of `random` and `pct`; the same seed, the same executions.
    pub fn seed(mut self, seed: u64) -> Checker {
        self.options.seed = seed;
        self.seed_is_set = true;
        self
    }

    /// Lets [`Algorithm::ContextSensitive`] anticipate cuts as its paper does. That loses executions, so
    /// the verdict is at best `bounded`.
    pub fn published_cuts(mut self, anticipates: bool) -> Checker {
        self.options.published_cuts = anticipates;
        self
    }

    /// How [`Algorithm::ContextSensitive`] finds that two orders lead to the same state.
    pub fn states(mut self, states: States) -> Checker {
        self.options.states = states;
        self
    }

    /// Goes on after a bug, and reports each distinct one.
    pub fn keep_going(self, keeps_going: bool) -> Checker {
        Checker {
            keeps_going,
            ..self
        }
    }

    /// How many executions may be spent after the first failure (default 100): of those that fail likewise the one
    /// with the fewest context switches is shown. Never more than the search took until then and ten besides, and
    /// none with [`Checker::keep_going`]. They are in no other number of the report.
    pub fn extra(self, executions: u64) -> Checker {
        Checker {
            extra: executions,
            ..self
        }
    }

    /// A thread that has performed as many operations stops there (default 10,000).
    pub fn max_events(mut self, events: u32) -> Checker {
        self.conditions.max_events = events;
        self
    }

    /// How many timed operations may expire per thread (default 2); at the next one it stops.
    pub fn timeouts(mut self, timeouts: u32) -> Checker {
        self.conditions.timeouts = timeouts;
        self
    }

    /// How often per thread a weak compare-exchange fails, or a wait for a condition variable or [`park`](crate::thread::park) ends, for
    /// no reason: a choice each time (default 0).
    pub fn spurious(mut self, times: u32) -> Checker {
        self.conditions.spurious = times;
        self
    }

    /// How many allocations per thread of a native program may get a block of the heap that was freed: a choice each time (default 0).
    pub fn reuse(mut self, times: u32) -> Checker {
        self.conditions.reuse = times;
        self
    }

    /// Makes each panic a failure. By default one that `join` returns as `Err` is behaviour.
    pub fn panics_fail(mut self, fail: bool) -> Checker {
        self.conditions.panics_fail = fail;
        self
    }

    /// Threads that still wait when the main thread has returned are no error.
    pub fn waiting_after_main(mut self, may_wait: bool) -> Checker {
        self.conditions.waiting_after_main = may_wait;
        self
    }

    /// Whether an [`Arc`](crate::sync::Arc) or memory of [`alloc`](mod@crate::alloc) that is never dropped is a failure (by default it is).
    pub fn leaks_fail(mut self, fail: bool) -> Checker {
        self.leaks_fail = fail;
        self
    }

    /// For programs that look at the clock in a loop: a thread that has joined all others runs this many rounds before it
    /// counts as stuck (default 0).
    pub fn waits_alone(mut self, rounds: u32) -> Checker {
        self.waits_alone = rounds;
        self
    }

    /// The name of the program in reports, schedule files and checkpoints.
    pub fn name(self, name: &str) -> Checker {
        Checker {
            name: name.to_owned(),
            ..self
        }
    }

    /// Where to save the schedule of the first failure.
    pub fn schedule_file(self, path: impl Into<PathBuf>) -> Checker {
        Checker {
            schedule_file: Some(path.into()),
            ..self
        }
    }

    /// Saves the whole state of the search to this file after every execution.
    pub fn checkpoint(self, path: impl Into<PathBuf>) -> Checker {
        Checker {
            checkpoint: Some(path.into()),
            ..self
        }
    }

    /// Saves the state that [`Checker::checkpoint`] saves only after as many executions, and at the end.
    pub fn checkpoint_interval(self, executions: u64) -> Checker {
        Checker {
            checkpoint_interval: executions.max(1),
            ..self
        }
    }

    /// Whether the interleaving of a failure tells where each operation stands, which it does unless this says otherwise.
    pub fn locations(self, are_shown: bool) -> Checker {
        Checker {
            locations: are_shown,
            ..self
        }
    }

    /// Whether interleavings are explored from the beginning on. Else only once the program calls
    /// [`explore`](crate::explore), as with loom's `expect_explicit_explore`.
    pub fn explores(self, from_the_beginning: bool) -> Checker {
        Checker {
            explores: from_the_beginning,
            ..self
        }
    }

    /// An execution that starts more threads than this, the main thread among them, is a failure. No limit unless it is set.
    pub fn max_threads(self, threads: usize) -> Checker {
        Checker {
            max_threads: threads,
            ..self
        }
    }

    /// Goes on from the state that a killed or stopped search saved by [`Checker::checkpoint`].
    pub fn resume(self, path: impl Into<PathBuf>) -> Checker {
        Checker {
            resume: Some(path.into()),
            ..self
        }
    }

    /// Watches the search.
    pub fn observer(self, observer: impl Observer + 'static) -> Checker {
        Checker {
            observer: Box::new(observer),
            ..self
        }
    }

    /// Stops the search, as a time limit does, once the flag is set.
    pub fn stop(self, stop: Arc<AtomicBool>) -> Checker {
        Checker {
            stop: Some(stop),
            ..self
        }
    }

    /// Keeps what the search has done in this file of [`report::Trail::BYTES`] bytes, each step before it is performed: for
    /// programs that may take the process down. [`report::Trailed`] reads it.
    pub fn trail(self, path: impl Into<PathBuf>) -> Checker {
        Checker {
            trail: Some(path.into()),
            ..self
        }
    }

    /// How long a thread may be blocked in a lock that is not of Mazurka, or run on without an operation, before that is a
    /// failure, and how long a search may go on in which threads reach the default of [`max_events`](Checker::max_events)
    /// (default 5 s). Threads that are blocked or run on are noticed on Linux with x86-64.
    pub fn patience(self, patience: Duration) -> Checker {
        Checker {
            patience: Some(patience),
            ..self
        }
    }

    /// For a front-end of programs in machine code: how their addresses are called, and their memory. From then on
    /// threads that wait when the main thread has returned are no error.
    pub fn native(
        mut self,
        source_map: &'static dyn SourceMap,
        memory: &'static dyn Memory,
    ) -> Checker {
        self.conditions.waiting_after_main = true;
        self.native = Some((source_map, memory));
        self
    }

    /// How many bytes the stack of each thread has (default 256 KiB), the main thread's among them.
    pub fn stack_size(self, bytes: usize) -> Checker {
        Checker {
            stack_size: Some(bytes),
            ..self
        }
    }

    fn noticed_rounds(&self) -> u32 {
        let default = || runtime::Config::default().noticed_rounds;
        self.conditions.unroll.unwrap_or_else(default)
    }

    /// Makes plain accesses of a native program events, as if they were atomic; by default they must not race.
    pub fn interleave_plain(mut self, interleaves: bool) -> Checker {
        self.conditions.interleaves_plain = interleaves;
        self
    }

    /// A thread of a native program that comes by one place that reads more often than this stops there. So does a thread of a
    /// model that goes more often (by default once) round a spin loop without progress, while others notice what it
    /// does before it undoes that: two threads may do so for ever.
    pub fn unroll(mut self, rounds: u32) -> Checker {
        self.conditions.unroll = Some(rounds);
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
        self.contradiction()?;
        let Some(path) = self.resume.clone() else {
            return Search::new(self, program)?.run();
        };
        contained(|| Search::new(self, program)?.run()).unwrap_or_else(|| {
            Err(CheckError::Unreadable {
                path,
                reason: CONTRADICTORY.to_owned(),
            })
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
        self,
        schedule: &ScheduleFile,
        program: impl Fn() + 'static,
    ) -> Result<Report, CheckError> {
        let conditions = schedule.conditions;
        let checker = Checker { conditions, ..self };
        checker.has_room()?;
        contained(|| Search::new(checker, program)?.replay(schedule))
            .unwrap_or_else(|| Err(CheckError::Misfit("it contradicts itself".to_owned())))
    }

    /// What comes before the last step of a schedule of accesses, for people: that step ended the process in which it was run.
    ///
    /// # Errors
    ///
    /// As [`replay`](Checker::replay).
    pub fn interleaving_before_last(
        self,
        schedule: &ScheduleFile,
        program: impl Fn() + 'static,
    ) -> Result<Interleaving, CheckError> {
        let conditions = schedule.conditions;
        let checker = Checker { conditions, ..self };
        checker.has_room()?;
        Search::new(checker, program)?.before_last(schedule)
    }

    /// The limit on executions that holds.
    pub(crate) fn limit(&self) -> Option<u64> {
        match (self.max_executions, self.time_limit) {
            (None, None) if !self.algorithm.proves() => Some(RANDOM_EXECUTIONS),
            (limit, _) => limit,
        }
    }
}
