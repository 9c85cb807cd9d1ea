//! Runs tests written for [loom](https://docs.rs/loom/0.7) with Mazurka. Only this patch is needed:
//!
//! ```toml
//! [patch.crates-io]
//! loom = { path = "../mazurka/crates/loom" }
//! ```
//!
//! `docs/book/src/loom.md` lists the differences. Every interleaving is explored (loom omits some).
//! More than five threads, expiring timeouts and disconnecting channels work, unlike in loom. Loom
//! detects these problems, but this package does not:
//!
//! * outcomes of weak memory after the first 20,000 executions, if preemptions are bounded;
//! * `unsync_load` of a variable that another thread writes;
//! * use of a `lazy_static!` after the main thread has ended: with Mazurka, it lives until all
//!   threads have ended.
//!
//! Of loom's own tests (0.7.3), exactly these fail:
//!
//! * because Mazurka does not detect the last two of these problems: `invalid_unsync_load_relaxed`
//!   and `lazy_static_arc_shutdown`;
//! * because they test limits of loom: `initial_thread` (a main thread without a name),
//!   `thread_stack_size` (in words) and `double_panic_at_branch_max` (`max_branches` below 10,000);
//! * `try_unwrap_multithreaded`: `Notify::wait` may return spuriously, which loom omits there;
//! * `drop` of `thread_local.rs`: that test counts in a static of `std`, which outlives executions.

#![forbid(unsafe_code)]

pub mod alloc;
pub mod cell;
pub mod future;
pub mod hint;
pub mod lazy_static;
pub mod model;
pub mod sync;
pub mod thread;

pub use mazurka::{explore, lazy_static, skip_branch, stop_exploring, thread_local};

#[doc(inline)]
pub use model::model;

/// Shows that this package is used instead of loom from crates.io, which has no such constant. If
/// Cargo ignores a patch, it only prints a warning. To get a compile error instead, add this line
/// to a test crate:
///
/// ```
/// const _: () = assert!(loom::IS_MAZURKA);
/// ```
pub const IS_MAZURKA: bool = true;

/// The maximum number of threads in a model. (In loom it is 5.)
pub const MAX_THREADS: usize = u16::MAX as usize;
