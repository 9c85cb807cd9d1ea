//! [`Checker`]: the options of a search, and the methods that run it.

mod accepting;
mod as_json;
mod audit;
mod brake;
mod checkpoint;
mod checkpoint_file;
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
mod linearization;
mod measured;
mod memory;
mod numbering;
mod order;
mod part;
mod refit;
mod repairing;
mod repeat;
mod sample;
mod search;
mod settings;
mod shortening;
mod slicing;
mod stepping;
mod tally;
mod unhinted_spin;
mod verification;

pub use errands::{Division, Errand, shorter as shorter_errand};
pub use error::CheckError;
pub use jobs::Jobs;
pub use measured::Measured;
pub use verification::{Preference, Verified};

use checkpoint::{State, refused_if_contradictory};
use explore::{Algorithm, MemoryModel, Observer, Preemptions};
use report::{FailureKind, Interleaving, Position, Report, ScheduleFile, Suppression, Visit};
use runtime::contained;
use runtime::native::{Memory, Native, SourceMap};
use search::Search;
use settings::Settings;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Stack size of a native thread in bytes: 8 MiB, as is usual on Linux, and a reserve. Only used
/// pages take memory.
const NATIVE_STACK: usize = (8 << 20) + runtime::native::SPARE_STACK;

/// Explores the interleavings of a concurrent program and reports what it found.
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
    /// Creates a checker that searches with [`Algorithm::Parsimonious`] until the program is
    /// verified or the first bug is found.
    pub fn new() -> Checker {
        Checker {
            settings: Settings::new(),
            observer: Box::new(()),
        }
    }

    /// Makes reports write options as on the command line (`--max-events`). Front-ends with a
    /// command line use this.
    #[doc(hidden)]
    pub fn of_command(mut self) -> Checker {
        self.settings.is_commanded = true;
        self
    }

    /// Makes the report count these findings instead of reporting them as bugs. If a suppressed
    /// failure, such as a panic, ends a thread, what would follow is not explored, and the verdict
    /// is at most `bounded`.
    pub fn suppress(mut self, suppressions: impl IntoIterator<Item = Suppression>) -> Checker {
        self.settings.suppressions.extend(suppressions);
        self
    }

    /// Sets the search algorithm. `random` and `pct` try 10,000 executions unless a limit on
    /// executions or time is set.
    pub fn algorithm(mut self, algorithm: Algorithm) -> Checker {
        self.settings.algorithm = algorithm;
        self
    }

    /// Stops after this number of executions. If the search reaches the limit, the verdict is at
    /// best `bounded`.
    pub fn max_executions(mut self, executions: u64) -> Checker {
        self.settings.max_executions = Some(executions);
        self
    }

    /// Stops after this time. If the search reaches the limit, the verdict is at best `bounded`.
    pub fn time_limit(mut self, limit: Duration) -> Checker {
        self.settings.time_limit = Some(limit);
        self
    }

    /// Leaves out executions with more preemptions than this. A preemption is a switch away from a
    /// thread that could continue. A switch after `yield_now` or `spin_loop` is not a preemption. A
    /// range `n..` starts with the bound `n` and raises it until no execution is left out, so that
    /// the first bug has as few preemptions as possible.
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

    /// Sets whether threads that run the same code with equal captures are explored up to
    /// permutation (default `false`). Counts of executions are then smaller than numbers of traces.
    /// If the program tells such threads apart, by their ids or because their parent does not join
    /// all of them together, the search starts again without this reduction for them.
    ///
    /// The program must not depend on the order or the hashes of addresses of memory that these
    /// threads allocate. Only searches by `parsimonious`, `optimal`, `source` and `sleep` under
    /// sequential consistency, without a bound on preemptions, can be reduced.
    ///
    /// ```
    /// use mazurka::sync::Arc;
    /// use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
    /// use mazurka::{Checker, thread};
    ///
    /// let program = || {
    ///     let count = Arc::new(AtomicU32::new(0));
    ///     thread::scope(|scope| {
    ///         for _ in 0..5 {
    ///             scope.spawn(|| {
    ///                 count.fetch_add(1, SeqCst);
    ///             });
    ///         }
    ///     });
    /// };
    /// assert_eq!(Checker::new().check(program).executions, 120);
    /// assert_eq!(Checker::new().symmetry(true).check(program).executions, 1);
    /// ```
    pub fn symmetry(mut self, symmetry: bool) -> Checker {
        self.settings.config.symmetry = symmetry;
        self
    }

    /// Sets the memory model (default [`MemoryModel::Auto`]). Under a weaker model than
    /// [`MemoryModel::Sc`], an atomic load may return an old value if the orderings of the accesses
    /// and fences allow this. The search then explores execution graphs. Only the default algorithm
    /// and `random` can do this.
    ///
    /// ```
    /// use mazurka::sync::Arc;
    /// use mazurka::sync::atomic::{AtomicBool, Ordering::Relaxed};
    /// use mazurka::{Checker, MemoryModel, Verdict, thread};
    ///
    /// // Each thread sets its flag and then checks that of the other. Both may see an old value.
    /// let store_buffering = || {
    ///     let flags = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
    ///     let other = thread::spawn({
    ///         let flags = Arc::clone(&flags);
    ///         move || {
    ///             flags[0].store(true, Relaxed);
    ///             flags[1].load(Relaxed)
    ///         }
    ///     });
    ///     flags[1].store(true, Relaxed);
    ///     let seen = flags[0].load(Relaxed);
    ///     assert!(other.join().unwrap() || seen);
    /// };
    /// let sc = Checker::new().memory(MemoryModel::Sc).check(store_buffering);
    /// assert_eq!(sc.verdict, Verdict::Verified);
    /// let report = Checker::new().check(store_buffering);
    /// assert_eq!((report.verdict, report.memory), (Verdict::Bug, MemoryModel::Rc11));
    /// ```
    pub fn memory(mut self, memory: MemoryModel) -> Checker {
        self.settings.config.conditions.memory = memory;
        self
    }

    /// Sets the seed of `random` and `pct`. The same seed gives the same executions.
    pub fn seed(mut self, seed: u64) -> Checker {
        self.settings.options.seed = seed;
        self.settings.seed_is_set = true;
        self
    }

    /// Sets whether the search continues after a bug and reports each distinct bug.
    pub fn keep_going(mut self, keeps_going: bool) -> Checker {
        self.settings.keeps_going = keeps_going;
        self
    }

    /// Limits the extra executions after the first failure (default 100). They look for the same
    /// failure with fewer context switches. Their number is also limited to ten more than the
    /// executions so far. There are none with [`Checker::keep_going`], under a weak memory model,
    /// or after a failure of the kind [`FailureKind::Misuse`]. The report counts them separately.
    pub fn extra(mut self, executions: u64) -> Checker {
        self.settings.extra = executions;
        self
    }

    /// Sets whether to explain a failure. The checker then reverses the races of the failing
    /// execution in more executions. These show which event orders no passing execution has
    /// ([`report::Why`]), and which passing execution is the most similar. Under a weak memory
    /// model, the checker instead looks for the orderings that must be stronger
    /// ([`report::Repair`]).
    pub fn explain(mut self, explains: bool) -> Checker {
        self.settings.explains = explains;
        self
    }

    /// Sets whether the report contains the tree of the search ([`report::Tree`]). The tree shows
    /// at which event each of the first executions (at most 1,000) departs from the previous one.
    /// To draw the tree, these executions are run again.
    pub fn draw(mut self, draws: bool) -> Checker {
        self.settings.draws = draws;
        self
    }

    /// Stops a thread that has performed this number of operations (default 10,000).
    pub fn max_events(mut self, events: u32) -> Checker {
        self.settings.config.conditions.max_events = events;
        self
    }

    /// Limits how many timed operations of each thread may expire (default 2). A thread stops when
    /// one more timed operation expires.
    pub fn timeouts(mut self, timeouts: u32) -> Checker {
        self.settings.config.conditions.timeouts = timeouts;
        self
    }

    /// Limits, per thread, the spurious failures of weak compare-exchanges and the spurious returns
    /// of condition variable waits and [`park`](crate::thread::park). The default is 0. The search
    /// explores both alternatives each time.
    pub fn spurious(mut self, times: u32) -> Checker {
        self.settings.config.conditions.spurious = times;
        self
    }

    /// Limits how many allocations of each thread of a native program (in C or C++) may reuse a
    /// freed block (default 0). Whether an allocation reuses a block is a choice that the search
    /// explores.
    pub fn reuse(mut self, times: u32) -> Checker {
        self.settings.config.conditions.reuse = times;
        self
    }

    /// Sets whether every panic is a failure. By default, a panic that `join` returns as `Err` is
    /// not.
    pub fn panics_fail(mut self, fail: bool) -> Checker {
        self.settings.config.conditions.panics_fail = fail;
        self
    }

    /// Sets whether threads may wait forever after the main thread has returned (default false).
    pub fn waiting_after_main(mut self, may_wait: bool) -> Checker {
        self.settings.config.conditions.waiting_after_main = may_wait;
        self
    }

    /// Sets whether an [`Arc`](crate::sync::Arc) or memory of [`alloc`](mod@crate::alloc) that is
    /// never freed is a failure (default true).
    pub fn leaks_fail(mut self, fail: bool) -> Checker {
        self.settings.config.leaks_fail = fail;
        self
    }

    /// Sets how many iterations of a spin loop a thread may run after it has joined all other
    /// threads, before the thread counts as stuck (default 0). Programs that read the clock in a
    /// loop need some iterations.
    pub fn waits_alone(mut self, rounds: u32) -> Checker {
        self.settings.config.waits_alone = rounds;
        self
    }

    /// Sets the name of the program in reports, schedule files and checkpoints.
    pub fn name(mut self, name: &str) -> Checker {
        self.settings.name = name.to_owned();
        self
    }

    /// Saves the schedule of the first failure in this file.
    pub fn schedule_file(mut self, path: impl Into<PathBuf>) -> Checker {
        self.settings.schedule_file = Some(path.into());
        self
    }

    /// Saves the whole state of the search in this file, at most a hundred times per second, and at
    /// the end.
    pub fn checkpoint(mut self, path: impl Into<PathBuf>) -> Checker {
        self.settings.checkpoint = Some(path.into());
        self
    }

    /// Saves the [`Checker::checkpoint`] at most once per this number of executions, and at the
    /// end.
    pub fn checkpoint_interval(mut self, executions: u64) -> Checker {
        self.settings.checkpoint_interval = executions.max(1);
        self
    }

    /// Sets whether the interleaving of a failure shows source locations (default true).
    pub fn locations(mut self, are_shown: bool) -> Checker {
        self.settings.config.locations = are_shown;
        self
    }

    /// Sets whether interleavings are explored from the start (default true), or only after a call
    /// of [`explore`](crate::explore), as with loom's `expect_explicit_explore`.
    pub fn explores(mut self, from_the_beginning: bool) -> Checker {
        self.settings.config.explores = from_the_beginning;
        self
    }

    /// Makes executions with more threads than this (including main) fail. The default is no limit.
    pub fn max_threads(mut self, threads: usize) -> Checker {
        self.settings.config.max_threads = threads;
        self
    }

    /// Continues from the state that a killed or stopped search saved with [`Checker::checkpoint`].
    pub fn resume(mut self, path: impl Into<PathBuf>) -> Checker {
        self.settings.resume = Some(path.into());
        self
    }

    /// Sets the observer of the search.
    pub fn observer(mut self, observer: impl Observer + 'static) -> Checker {
        self.observer = Box::new(observer);
        self
    }

    /// Stops the search once the flag is set, as a time limit does.
    pub fn stop(mut self, stop: Arc<AtomicBool>) -> Checker {
        self.settings.stops.push(stop);
        self
    }

    /// Records the search in this file of [`report::Trail::BYTES`] bytes, for programs that may
    /// crash the process. Each step is recorded before the thread performs it. [`report::Trailed`]
    /// reads the file.
    pub fn trail(mut self, path: impl Into<PathBuf>) -> Checker {
        self.settings.trail = Some(path.into());
        self
    }

    /// Limits how long a thread may block in a lock that is not Mazurka's, or run without an
    /// operation. A longer time is a failure. The default is 5 s. If
    /// [`max_events`](Checker::max_events) has its default value, the search also ends this long
    /// after a thread first reaches that limit, because the thread probably spins without a hint.
    /// Threads are watched on x86-64 Linux only.
    pub fn patience(mut self, patience: Duration) -> Checker {
        self.settings.config.patience = patience;
        self
    }

    /// Sets the source map and the memory of a program in machine code. Native front-ends use this.
    /// Threads may then wait forever after the main thread has returned, and have large stacks.
    pub fn native(
        mut self,
        source_map: &'static dyn SourceMap,
        memory: &'static dyn Memory,
    ) -> Checker {
        self.settings.config.conditions.waiting_after_main = true;
        self.settings.config.stack_size = NATIVE_STACK;
        self.settings.config.native = Some(Native { source_map, memory });
        self
    }

    /// Sets the stack size in bytes of each thread (default 256 KiB), the main thread included.
    pub fn stack_size(mut self, bytes: usize) -> Checker {
        self.settings.config.stack_size = bytes;
        self
    }

    /// Limits the iterations of loops in each thread. A thread stops at the limit. In a native
    /// program, the limit is on how often a thread returns to the same place that reads memory
    /// (default: no limit). In a Rust program, the limit (default 1) is on the iterations of a spin
    /// loop that undoes its effects after other threads have observed them. Without a limit, two
    /// threads could repeat these loops forever.
    pub fn unroll(mut self, rounds: u32) -> Checker {
        self.settings.config.conditions.unroll = Some(rounds);
        self
    }

    /// Checks the program.
    ///
    /// # Panics
    ///
    /// Panics if the check cannot be done (see [`CheckError`]), but not if the program has a bug.
    #[track_caller]
    pub fn check(self, program: impl Fn() + 'static) -> Report {
        match self.try_check(program) {
            Ok(report) => report,
            Err(error) => panic!("{error}"),
        }
    }

    /// Checks the program. Returns an error if the check cannot be done.
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

    /// Returns this check without its bound on preemptions, under RC11 and limited to this number
    /// of executions. Returns `None` if there is no bound, or if the check without the bound could
    /// not change to RC11.
    pub(crate) fn without_preemption_bound(&self, executions: u64) -> Option<Checker> {
        let mut settings = self.settings.clone();
        settings.options.preemptions.take()?;
        if settings.config.conditions.memory != MemoryModel::Auto || !settings.may_weaken() {
            return None;
        }
        settings.config.conditions.memory = MemoryModel::Rc11;
        let limit = settings.max_executions.unwrap_or(executions);
        settings.max_executions = Some(limit.min(executions));
        (settings.checkpoint, settings.resume) = (None, None);
        Some(Checker {
            settings,
            observer: Box::new(()),
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
    ///
    /// # Errors
    ///
    /// Returns an error if the schedule does not fit the program, or if the program is not
    /// deterministic.
    pub fn replay(
        mut self,
        schedule: &ScheduleFile,
        program: impl Fn() + 'static,
    ) -> Result<Report, CheckError> {
        self.settings.config.conditions = schedule.conditions;
        self.settings.has_room()?;
        contained(|| Search::new(self, program)?.replay(schedule))
            .unwrap_or_else(|| Err(CheckError::Misfit("it is inconsistent".to_owned())))
    }

    /// Returns the interleaving of a schedule without its last step, because that step ended the
    /// process that ran it. The steps of the schedule are accesses only; the interleaving contains
    /// all operations.
    ///
    /// # Errors
    ///
    /// Returns an error in the same cases as [`replay`](Checker::replay).
    pub fn interleaving_before_last(
        mut self,
        schedule: &ScheduleFile,
        program: impl Fn() + 'static,
    ) -> Result<Interleaving, CheckError> {
        self.settings.config.conditions = schedule.conditions;
        self.settings.has_room()?;
        Search::new(self, program)?.before_last(schedule)
    }

    /// Returns the position that this schedule leads to in the execution, with the possible next
    /// steps. The schedule may be empty.
    ///
    /// # Errors
    ///
    /// Returns an error in the same cases as [`replay`](Checker::replay), and if `visit` reverses
    /// two events that do not race.
    pub fn position(
        mut self,
        schedule: &ScheduleFile,
        visit: &Visit,
        program: impl Fn() + 'static,
    ) -> Result<Position, CheckError> {
        self.settings.config.conditions = schedule.conditions;
        self.settings.has_room()?;
        contained(|| Search::new(self, program)?.position(schedule, visit))
            .unwrap_or_else(|| Err(CheckError::Misfit("it is inconsistent".to_owned())))
    }

    /// Returns the empty schedule, from which a user starts to step interactively.
    pub fn beginning(&self) -> ScheduleFile {
        ScheduleFile {
            program: self.settings.name.clone(),
            kind: FailureKind::Panic,
            message: String::new(),
            conditions: self.settings.config.conditions,
            coarse: Vec::new(),
            recipe: None,
            by_accesses: false,
            steps: Vec::new(),
        }
    }
}
