//! The front-end for Rust: threads, and the objects that mirror those of `std`, one per file.

pub(crate) mod alloc;
pub(crate) mod arc;
pub(crate) mod atomic;
pub(crate) mod barrier;
pub(crate) mod born;
pub(crate) mod cell;
pub(crate) mod channel;
pub(crate) mod choice;
pub(crate) mod condvar;
pub(crate) mod end_of_statics;
pub(crate) mod exploration;
pub(crate) mod goal;
pub(crate) mod hint;
pub(crate) mod lazy;
pub(crate) mod local;
pub(crate) mod mailbox;
pub(crate) mod mirror;
pub(crate) mod mutex;
pub(crate) mod naming;
pub(crate) mod notify;
pub(crate) mod object;
pub(crate) mod once;
pub(crate) mod outside;
pub(crate) mod owner;
pub(crate) mod plain;
pub(crate) mod pointer;
pub(crate) mod poison;
pub(crate) mod pools;
#[cfg(all(
    target_os = "linux",
    target_arch = "x86_64",
    target_env = "gnu",
    not(target_feature = "crt-static")
))]
pub(crate) mod process_exit;
pub(crate) mod rwlock;
pub(crate) mod scope;
pub(crate) mod semaphore;
pub(crate) mod settle;
pub(crate) mod shared;
pub(crate) mod state;
pub(crate) mod strengthening;
pub(crate) mod thread;
pub(crate) mod versions;

/// The types that `mazurka::sync` re-exports as they are, without a wrapper.
pub mod sync {
    pub use super::arc::{Arc, Weak};
    pub use super::lazy::Lazy;
}
