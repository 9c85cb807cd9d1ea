//! The names of [loom](https://docs.rs/loom/0.7) for Mazurka: whoever has tests for loom runs them with Mazurka by
//!
//! ```toml
//! [patch.crates-io]
//! loom = { path = "../mazurka/crates/loom" }
//! ```
//!
//! and without any other change. What differs is told in `crates/mazurka/NAMES.md`: every interleaving is explored (loom leaves some
//! out), and what loom refuses (more than five threads, timeouts that expire, channels that hang up) works. What loom finds
//! and this does not:
//!
//! * outcomes of weak memory: a relaxed load never returns an old value here (the orderings do decide what is a data race);
//! * `unsync_load` of a variable that another thread writes;
//! * a `lazy_static!` that is used when the main thread has ended: here it lasts until all threads have.
//!
//! Of loom's own tests (0.7.3) these fail with it, and no other:
//!
//! * for weak memory `store_buffering`, `acq_rel`, `check_ordering_invalid_1` and `check_ordering_invalid_2`;
//! * for the other two points `invalid_unsync_load_relaxed` and `lazy_static_arc_shutdown`;
//! * for limits of loom's `initial_thread` (a main thread without a name), `thread_stack_size` (in words) and
//!   `double_panic_at_branch_max` (`max_branches` below 10,000);
//! * `try_unwrap_multithreaded`: `Notify::wait` may return for no reason, in loom, too, which does not explore it there;
//! * `drop` of `thread_local.rs`: it counts in a static of `std`, which outlives executions.

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

/// Whether this package runs, not the loom of crates.io, which has no such constant. Cargo only warns where it ignores a patch;
/// a line in a test crate makes that an error:
///
/// ```
/// const _: () = assert!(loom::IS_MAZURKA);
/// ```
pub const IS_MAZURKA: bool = true;

/// How many threads a model may have. (loom's limit is 5.)
pub const MAX_THREADS: usize = u16::MAX as usize;
