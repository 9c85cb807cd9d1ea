//! As `loom::sync`, and what `std::sync` has besides.

pub use mazurka::sync::{
    Arc, Barrier, BarrierWaitResult, Condvar, LazyLock, LockResult, Mutex, MutexGuard, Notify,
    Once, OnceLock, OnceState, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
    TryLockError, TryLockResult, WaitTimeoutResult, Weak, mpsc,
};

pub mod atomic {
    //! As `loom::sync::atomic`.

    pub use mazurka::sync::atomic::*;

    /// See [`crate::hint::spin_loop`].
    #[inline(always)]
    pub fn spin_loop_hint() {
        mazurka::hint::spin_loop();
    }
}
