//! Futures: the thread that polls one until it is ready, and the cell for a waker.

mod atomic_waker;
mod block_on;

pub use atomic_waker::AtomicWaker;
pub use block_on::block_on;
