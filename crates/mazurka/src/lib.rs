//! Checks concurrent Rust code: runs a test again and again under a scheduler of its own, once for each
//! way in which its threads can influence each other, and so either finds the bug that a rare
//! interleaving hides, with a schedule that shows it every time, or proves that no interleaving has one.
//!
//! # The first bug
//!
//! Two threads add one to a counter, each with a load and a store:
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
//! With `fetch_add(1, SeqCst)` in the place of the load and the store the same call returns: no
//! interleaving loses an update.
//!
//! # Checking a crate
//!
//! The modules [`sync`], [`thread`], [`cell`] and [`hint`] have the names and signatures of `std`. A crate
//! takes its types from one place and chooses there:
//!
//! ```
//! // src/sync.rs
//! #[cfg(mazurka)]
//! pub(crate) use mazurka::{cell, hint, sync, thread};
//! #[cfg(not(mazurka))]
//! pub(crate) use std::{cell, hint, sync, thread};
//! ```
//!
//! and runs its models with `RUSTFLAGS="--cfg mazurka" cargo test --release`, with `mazurka` under
//! `[target.'cfg(mazurka)'.dependencies]`.
//!
//! [`model`] is for tests; [`Checker`] has the options (algorithm, limits, checkpoints, replay of a saved
//! schedule) and returns a [`Report`].
//!
//! # What is checked
//!
//! Failed assertions and other panics, deadlocks, threads that spin for ever, data races of
//! [`cell::UnsafeCell`] by the happens-before of C11, misuse of an object, stack overflows and aborts.
//! A panic that `join` returns as `Err` is behaviour, unless [`Checker::panics_fail`] is set. What can happen
//! and not only what must: a [`Goal`] is reached in some execution.
//!
//! # Safe execution
//!
//! With the feature `enforce` (Linux on x86-64) all of [`sync`], [`thread`] and [`cell`] is real outside of models, and
//! `mazurka::program` in a `main` lets the command verify the binary piece by piece and run it under what is verified:
//! `mazurka verify`, `mazurka run`. [`input()`] declares an input.
//!
//! # Limits
//!
//! * Memory is sequentially consistent: the orderings decide what is a data race, but a relaxed load never
//!   returns an old value.
//! * An object belongs to the execution that creates it. A static of these types is a fresh one in each execution; [`cell`]s,
//!   and what needs code to be made, are made by [`lazy_static!`] or [`sync::LazyLock`], in each execution anew.
//! * A program must be deterministic but for its threads and [`choose`]: no clocks, random numbers or maps
//!   with random seeds, and nothing that outlives an execution. What it allocates must not depend on executions before, either
//!   (what a library makes when it is used first, say), as long as objects are made after that: a thread's objects are known by
//!   where they are. Text and other bytes do not matter. The crate's feature `statics`, a default, can be switched off if that is
//!   too much; objects are then known by the thread that makes them, and `new` is not `const`.
//! * `std::thread_local!` is shared by all threads of a model (use [`thread_local!`]), and other statics outlive an execution.
//! * A loop that waits for another thread needs [`hint::spin_loop`] or [`thread::yield_now`] in it. It ends
//!   when it went round without an effect; a loop that counts its rounds runs them all. (x86-64 only; elsewhere such a
//!   loop runs to the limit of [`Checker::max_events`].)
//! * A timed operation may expire at any moment; after [`Checker::timeouts`] expiries in a thread the
//!   verdict is `bounded`.

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
#[doc = include_str!("../NAMES.md")]
pub mod names {}
#[doc = include_str!("../SHUTTLE.md")]
pub mod names_of_shuttle {}
#[cfg(feature = "enforce")]
mod program;
pub mod sync;
mod test_case;
pub mod thread;

pub use checker::{CheckError, Checker, Jobs, Preference, Verified};
#[doc(hidden)]
pub use checker::{Division, Errand, Measured, shorter_errand};
pub use choice::{assume, choose, explore, note, skip_branch, stop_exploring};
pub use explore::{Algorithm, Observer, Preemptions, States};
#[doc(hidden)]
pub use future::block_on::block_on_spuriously;
pub use goal::Goal;
pub use input::input;
/// Makes a function a test that is run in every interleaving.
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
/// /// This one is to fail: the test passes if it does, with this text in the failure.
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
/// | `algorithm = "optimal"` | [`Checker::algorithm`], by the name that the command line knows |
/// | `max_executions = 1000`, `time_limit = "30s"` | stop there |
/// | `preemptions = 2`, `preemptions = 0..` | [`Checker::preemptions`] |
/// | `max_events = 500`, `timeouts = 3` | [`Checker::max_events`], [`Checker::timeouts`] |
/// | `seed = 7`, `extra = 0` | [`Checker::seed`], [`Checker::extra`] |
/// | `jobs = 4` | [`Checker::jobs`]; by default `MAZURKA_JOBS` of the environment, or 1 |
/// | `unroll = 1` | [`Checker::unroll`] |
/// | `keep_going`, `panics_fail`, `waiting_after_main`, `accept_hidden` | as the methods of [`Checker`] |
/// | `fails`, `fails = "text"` | the test passes if the model has a bug, with this text in its kind or message |
///
/// A limit that the attribute itself sets may be met: the test then passes and prints what was not explored.
/// Any other limit that is met is a failure of the test, as a bug is.
///
/// The function may return a `Result`, and may be `async` (it is blocked on). Its other attributes
/// (`#[ignore]`, `#[should_panic]`, `#[cfg]`) stay what they are. A failure is shown once, with the line that repeats
/// it: `MAZURKA_REPLAY=FILE cargo test …`, or `cargo nextest run …` if that ran the test. `MAZURKA_HTML=FOLDER cargo test`
/// writes a page for each test, in which a browser steps through the execution that fails.
///
/// What is wrong in an attribute is told when the test is compiled:
///
/// ```compile_fail
/// #[mazurka::test(algorithm = "dpor")] // no algorithm is called "dpor"; there are exhaustive, sleep, …
/// fn model() {}
/// ```
///
/// ```compile_fail
/// #[mazurka::test] // a model takes no arguments: nobody calls it with any
/// fn model(n: u32) {}
/// ```
pub use macros::test;
pub use model::model;
#[cfg(feature = "enforce")]
pub use program::{again, program};
pub use report::{
    Conditions, Failure, FailureKind, Interleaving, Limit, Report, ScheduleFile, Style, Verdict,
};
#[doc(hidden)]
pub use test_case::{Returned, TestCase};

/// The directory of the sources of this library.
fn sources() -> Option<&'static str> {
    file!().strip_suffix("lib.rs")
}

/// Gives the models memory with the same addresses in all executions.
#[cfg(feature = "allocator")]
#[global_allocator]
static ALLOCATOR: runtime::ModelAllocator = runtime::ModelAllocator;
