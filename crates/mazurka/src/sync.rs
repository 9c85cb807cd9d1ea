//! Like `std::sync`, with two more types: [`Notify`] (as in loom) and [`Semaphore`].

pub mod atomic;
mod barrier;
mod condvar;
pub(crate) mod constructor;
mod lazy_lock;
mod lazy_static;
pub mod mpsc;
mod mutex;
mod notify;
mod once;
mod once_lock;
mod poison;
mod rwlock;
mod semaphore;

pub use barrier::{Barrier, BarrierWaitResult};
pub use condvar::{Condvar, WaitTimeoutResult};
pub use lazy_lock::LazyLock;
pub use mutex::{Mutex, MutexGuard};
pub use notify::Notify;
pub use once::{Once, OnceState};
pub use once_lock::OnceLock;
pub use runtime::sync::*;
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use semaphore::Semaphore;
pub use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};
