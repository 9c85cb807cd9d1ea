//! Mirrors `loom::model`.

mod variables;

use mazurka::TestCase;
use std::path::PathBuf;
use std::time::Duration;
use variables::variable;

/// A thread may perform this many operations even if [`Builder::max_branches`] is lower (loom's
/// default is lower). Loom and Mazurka count operations differently, and no test should fail
/// because of this difference.
const OPERATIONS: usize = 10_000;

/// Number of rounds that a thread may spend in a spin loop after it has joined all other threads.
/// Such a loop may poll the clock, which loom permits.
const ROUNDS_ALONE: u32 = 1_000;

/// Number of rounds that a thread may spend in a spin loop without progress if other threads
/// observe its effects. As in loom, a yielding thread does not run repeatedly while no other thread
/// makes progress.
const OBSERVED_ROUNDS: u32 = 1;

/// The options for checking a model. The fields are those of loom.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Builder {
    /// A test with more threads (including the main thread) fails. The default is
    /// [`MAX_THREADS`](crate::MAX_THREADS).
    pub max_threads: usize,
    /// The greatest number of operations per thread; a test that exceeds it fails
    /// (`LOOM_MAX_BRANCHES`). Values below 10,000 count as 10,000.
    pub max_branches: usize,
    /// Stops after this many executions (`LOOM_MAX_PERMUTATIONS`). Reaching this limit does not
    /// make the test fail.
    pub max_permutations: Option<usize>,
    /// Stops after this time (`LOOM_MAX_DURATION`, in seconds). Reaching this limit does not make
    /// the test fail.
    pub max_duration: Option<Duration>,
    /// Leaves out executions with more preemptions than this number (`LOOM_MAX_PREEMPTIONS`).
    /// Leaving out executions does not make the test fail.
    pub preemption_bound: Option<usize>,
    /// The file in which the search is saved and from which it resumes (`LOOM_CHECKPOINT_FILE`).
    pub checkpoint_file: Option<PathBuf>,
    /// Saves the search at most once per this many executions, and at the end
    /// (`LOOM_CHECKPOINT_INTERVAL`).
    pub checkpoint_interval: usize,
    /// Whether interleavings are explored only after the test calls [`explore`](crate::explore).
    pub expect_explicit_explore: bool,
    /// Whether a report shows the location of each operation. Locations cost nothing here, so they
    /// are on by default, and `LOOM_LOCATION` is not read.
    pub location: bool,
    /// Whether the report of a test that passes is printed (`LOOM_LOG`).
    pub log: bool,
}

impl Builder {
    /// Returns the defaults, changed by the environment variables.
    ///
    /// # Panics
    ///
    /// Panics if an environment variable has an invalid value.
    #[track_caller]
    pub fn new() -> Builder {
        Builder {
            max_threads: crate::MAX_THREADS,
            max_branches: variable("LOOM_MAX_BRANCHES").unwrap_or(1_000),
            max_permutations: variable("LOOM_MAX_PERMUTATIONS"),
            max_duration: variable("LOOM_MAX_DURATION").map(Duration::from_secs),
            preemption_bound: variable("LOOM_MAX_PREEMPTIONS"),
            checkpoint_file: std::env::var_os("LOOM_CHECKPOINT_FILE").map(PathBuf::from),
            checkpoint_interval: variable("LOOM_CHECKPOINT_INTERVAL").unwrap_or(20_000),
            expect_explicit_explore: false,
            location: true,
            log: std::env::var_os("LOOM_LOG").is_some(),
        }
    }

    /// Sets [`Builder::checkpoint_file`].
    pub fn checkpoint_file(&mut self, file: &str) -> &mut Builder {
        self.checkpoint_file = Some(PathBuf::from(file));
        self
    }

    /// Checks the model.
    ///
    /// # Panics
    ///
    /// Panics with the report if the model has a bug or a thread performs too many operations.
    #[track_caller]
    pub fn check<F: Fn() + Sync + Send + 'static>(&self, model: F) {
        self.case().run_by_jobs(model);
    }

    #[track_caller]
    fn case(&self) -> TestCase {
        let operations = u32::try_from(self.max_branches.max(OPERATIONS)).unwrap_or(u32::MAX);
        // Unlike in loom, timed operations may expire: two in each thread. A test that reaches this
        // limit does not fail.
        let mut case = TestCase::of_this_thread()
            .fails_at(operations)
            .timeouts(2)
            // Some tests deliberately synchronize threads by types of `std`, which loom does not
            // detect either.
            .permit_hidden()
            .waits_alone(ROUNDS_ALONE)
            .unroll(OBSERVED_ROUNDS)
            .max_threads(self.max_threads)
            .explores(!self.expect_explicit_explore)
            .locations(self.location)
            .checkpoint_interval(self.checkpoint_interval as u64)
            .verbose(self.log);
        if let Some(executions) = self.max_permutations {
            case = case.max_executions(executions as u64);
        }
        if let Some(limit) = self.max_duration {
            case = case.time_limit(limit);
        }
        if let Some(preemptions) = self.preemption_bound {
            case = case.preemptions(u32::try_from(preemptions).unwrap_or(u32::MAX));
        }
        match &self.checkpoint_file {
            Some(file) => case.checkpoint(file),
            None => case,
        }
    }
}

impl Default for Builder {
    #[track_caller]
    fn default() -> Builder {
        Builder::new()
    }
}

/// Checks the model with the default options of [`Builder`].
///
/// ```
/// use loom::sync::Arc;
/// use loom::sync::atomic::{AtomicUsize, Ordering::SeqCst};
/// use loom::thread;
///
/// loom::model(|| {
///     let count = Arc::new(AtomicUsize::new(0));
///     let other = thread::spawn({
///         let count = Arc::clone(&count);
///         move || count.fetch_add(1, SeqCst)
///     });
///     count.fetch_add(1, SeqCst);
///     other.join().unwrap();
///     assert_eq!(count.load(SeqCst), 2);
/// });
/// ```
#[track_caller]
pub fn model<F: Fn() + Sync + Send + 'static>(model: F) {
    Builder::new().check(model);
}
