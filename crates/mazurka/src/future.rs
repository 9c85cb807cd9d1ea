//! Futures: `block_on`, tasks, and a cell for a waker.
//!
//! A task is a thread of the model that polls one future. This is like an executor with one worker
//! per task, so it includes the behaviour of other executors. Waking a task is an event. A task
//! that is never woken is a deadlock, shown with the schedule that loses the wakeup.

mod abort_on_drop;
mod atomic_waker;
pub(crate) mod block_on;
mod join_error;
mod spurious;
mod task;
mod token;
mod yielding;

pub use abort_on_drop::AbortOnDrop;
pub use atomic_waker::AtomicWaker;
pub use block_on::block_on;
pub use join_error::JoinError;
pub use spurious::{Spurious, spurious};
pub use task::{JoinHandle, spawn};
pub use yielding::yield_now;
