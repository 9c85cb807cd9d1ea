//! The names of [loom](https://docs.rs/loom/0.7) for Mazurka: whoever has tests for loom runs them with Mazurka by
//!
//! ```toml
//! [patch.crates-io]
//! loom = { path = "../mazurka/crates/loom" }
//! ```
//!
//! and without any other change. What differs is told in `crates/mazurka/NAMES.md`: nothing is missed that loom finds, every
//! interleaving is explored (loom leaves some out), and what loom refuses (more than five threads, timeouts that expire,
//! channels that hang up) works.

#![forbid(unsafe_code)]

pub mod alloc;
pub mod cell;
#[cfg(feature = "futures")]
pub mod future;
pub mod hint;
pub mod lazy_static;
pub mod model;
pub mod sync;
pub mod thread;

pub use mazurka::{explore, lazy_static, skip_branch, stop_exploring, thread_local};

#[doc(inline)]
pub use model::model;

/// How many threads a model may have. (loom's limit is 5.)
pub const MAX_THREADS: usize = u16::MAX as usize;
