//! Mazurka checks concurrent Rust code. It runs a test under a controlled scheduler, once for each
//! order in which the threads can influence each other. It either finds an interleaving that breaks
//! the test, with a schedule that reproduces the failure every time, or proves that no interleaving
//! breaks the test. (If the search reaches a limit first, it proves nothing, and the report says
//! so.) A test or program that Mazurka runs in this way is called a *model*.
//!
//! # The first bug
//!
//! Two threads increment a counter, each with a load and a store:
//!
//! ```
//! use mazurka::sync::Arc;
//! use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
//! use mazurka::thread;
//!
//! fn two_increments() {
//!     let count = Arc::new(AtomicU32::new(0));
//!     let threads: Vec<_> = (0..2)
//!         .map(|_| {
//!             let count = Arc::clone(&count);
//!             thread::spawn(move || count.store(count.load(SeqCst) + 1, SeqCst))
//!         })
//!         .collect();
//!     for thread in threads {
//!         thread.join().unwrap();
//!     }
//!     assert_eq!(count.load(SeqCst), 2, "an update was lost");
//! }
//!
//! # let found = std::panic::catch_unwind(|| {
//! mazurka::model(two_increments); // panics, and shows the interleaving that loses an update
//! # });
//! # assert!(found.is_err());
//! ```
//!
//! With `fetch_add(1, SeqCst)` instead of the load and the store, the same call returns: no
//! interleaving loses an update.
//!
//! # Checking a crate
//!
//! The modules [`sync`], [`thread`], [`cell`] and [`hint`] have the names and signatures of `std`.
//! A crate selects its types in one module, from which all other modules import them:
//!
//! ```
//! // src/sync.rs
//! #[cfg(mazurka)]
//! pub(crate) use mazurka::{cell, hint, sync, thread};
//! #[cfg(not(mazurka))]
//! pub(crate) use std::{cell, hint, sync, thread};
//! ```
//!
//! Declare `mazurka` under `[target.'cfg(mazurka)'.dependencies]`, and run the models with
//! `RUSTFLAGS="--cfg mazurka" cargo test --release`. `docs/book/src/loom.md` in the repository
//! lists all names and how they are modelled. It also helps users of loom and Shuttle to switch.
//!
//! [`model`] and [`macro@crate::test`] are for tests. [`Checker`] has the options (algorithm,
//! limits, checkpoints, replay of a saved schedule) and returns a [`Report`].
//!
//! # What is checked
//!
//! Mazurka reports failed assertions and other panics, deadlocks, threads that spin forever, data
//! races on [`cell::UnsafeCell`] (by C11 happens-before), misuse of an object, stack overflows and
//! aborts. A panic that `join` returns as `Err` is normal behaviour, unless
//! [`Checker::panics_fail`] is set. A [`Goal`] checks the opposite of an assertion: that something
//! can happen in some execution.
//!
//! # Safe execution
//!
//! With the feature `enforce` (Linux on x86-64), all of [`sync`], [`thread`] and [`cell`] works
//! outside models as in `std`. If `main` calls `mazurka::program`, `mazurka verify` verifies the
//! binary piece by piece, and `mazurka run` keeps it to the schedules that were verified.
//! [`input()`] declares an input.
//!
//! # Limits
//!
//! * Programs with orderings weaker than `SeqCst` are explored under the memory model RC11
//!   ([`Checker::memory`]), which forbids load buffering.
//! * An object belongs to the execution that creates it. A static of one of Mazurka's types starts
//!   with its initial value in each execution. Create statics of [`cell`]s, and statics whose
//!   initializer is not `const`, with [`lazy_static!`] or [`sync::LazyLock`]: each execution
//!   initializes them again.
//! * A program must be deterministic except for its threads and [`choose`]: no clocks, no random
//!   numbers, no maps with random seeds, and nothing that outlives an execution. Objects are
//!   identified by their address. So a thread's allocations before it creates an object must not
//!   depend on earlier executions (for example, through a library that allocates at its first use).
//!   Allocations of strings and byte buffers do not count. If this rule is too strict, switch off
//!   the default feature `statics`: objects are then identified by the thread that creates them,
//!   and `new` is not `const`.
//! * All threads of a model share the values of `std::thread_local!` (use [`thread_local!`]).
//!   Statics without a type of Mazurka keep their values from one execution to the next.
//! * A loop that waits for another thread must call [`hint::spin_loop`] or [`thread::yield_now`].
//!   Mazurka then stops the thread after an iteration without an effect. Counting the iterations is
//!   an effect, so a loop that counts runs to its end. (x86-64 only; elsewhere the loop runs to the
//!   limit of [`Checker::max_events`].)
//! * A timed operation may expire at any moment. If more than [`Checker::timeouts`] operations of a
//!   thread expire, the thread stops and the verdict is `bounded`.

#![forbid(unsafe_code)]

pub mod alloc;
pub mod cell;
mod checker;
mod choice;
pub mod future;
mod goal;
pub mod hint;
mod input;
mod model;
#[cfg(feature = "enforce")]
mod program;
pub mod sync;
mod test_case;
pub mod thread;

pub use checker::{CheckError, Checker, Jobs, Preference, Verified};
#[doc(hidden)]
pub use checker::{Division, Errand, Measured, shorter_errand};
pub use choice::{assume, choose, explore, note, skip_branch, stop_exploring};
pub use explore::{Algorithm, MemoryModel, Observer, Preemptions};
#[doc(hidden)]
pub use future::block_on::block_on_spuriously;
pub use goal::Goal;
pub use input::input;
/// Turns a function into a test that runs in every interleaving.
///
/// ```
/// use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
/// use mazurka::thread;
///
/// #[mazurka::test]
/// fn no_update_is_lost() {
///     let count = AtomicU32::new(0);
///     thread::scope(|scope| {
///         for _ in 0..2 {
///             scope.spawn(|| count.fetch_add(1, SeqCst));
///         }
///     });
///     assert_eq!(count.load(SeqCst), 2);
/// }
///
/// /// This test expects a failure: it passes if a failure contains this text.
/// #[mazurka::test(algorithm = "optimal", fails = "an update was lost")]
/// fn an_update_is_lost() {
///     let count = AtomicU32::new(0);
///     thread::scope(|scope| {
///         for _ in 0..2 {
///             scope.spawn(|| count.store(count.load(SeqCst) + 1, SeqCst));
///         }
///     });
///     assert_eq!(count.load(SeqCst), 2, "an update was lost");
/// }
/// ```
///
/// | option | |
/// | --- | --- |
/// | `algorithm = "optimal"` | [`Checker::algorithm`], by its name on the command line |
/// | `memory = "rc11"` | [`Checker::memory`], by its name on the command line |
/// | `max_executions = 1000`, `time_limit = "30s"` | stop the search at this limit |
/// | `preemptions = 2`, `preemptions = 0..` | [`Checker::preemptions`] |
/// | `max_events = 500`, `timeouts = 3` | [`Checker::max_events`], [`Checker::timeouts`] |
/// | `seed = 7`, `extra = 0` | [`Checker::seed`], [`Checker::extra`] |
/// | `jobs = 4` | [`Checker::jobs`]; by default the environment variable `MAZURKA_JOBS`, or 1 |
/// | `unroll = 1` | [`Checker::unroll`] |
/// | `keep_going`, `panics_fail`, `waiting_after_main`, `accept_hidden` | as in [`Checker`] |
/// | `fails`, `fails = "text"` | the test passes if a bug has this text in its kind or message |
///
/// If the search finds no bug and reaches a limit that the attribute sets, the test passes and
/// prints what was left unexplored. If the search reaches any other limit, the test fails.
///
/// The function may return a `Result`, and may be `async` (the test blocks on it). Its other
/// attributes (`#[ignore]`, `#[should_panic]`, `#[cfg]`) keep their meaning. A failure is shown
/// once, with the command that repeats it: `MAZURKA_REPLAY=FILE cargo test …` (or
/// `cargo nextest run …`). `MAZURKA_HTML=FOLDER cargo test` writes an HTML page for each
/// test, on which the failing execution can be stepped through.
///
/// Errors in an attribute are reported at compile time:
///
/// ```compile_fail,test_harness
/// #[mazurka::test(algorithm = "dpor")] // unknown; there are exhaustive, sleep, …
/// fn model() {}
/// ```
///
/// ```compile_fail
/// #[mazurka::test] // a model takes no arguments
/// fn model(n: u32) {}
/// ```
pub use macros::test;
pub use model::model;
#[cfg(feature = "enforce")]
pub use program::{again, program};
pub use report::{
    Conditions, Failure, FailureKind, Interleaving, Limit, Report, Restart, ScheduleFile, Style,
    Verdict,
};
#[doc(hidden)]
pub use test_case::{Returned, TestCase};

/// Returns the directory of the sources of this library. The result is never `None`, because this
/// file is `lib.rs`.
fn sources() -> Option<&'static str> {
    file!().strip_suffix("lib.rs")
}

/// Runs the examples of the book's chapter on loom and Shuttle as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/book/src/loom.md")]
mod book {}

/// Gives the allocations of a model the same addresses in every execution.
#[cfg(feature = "allocator")]
#[global_allocator]
static ALLOCATOR: runtime::ModelAllocator = runtime::ModelAllocator;
