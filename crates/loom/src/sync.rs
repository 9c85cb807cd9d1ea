//! Mirrors `loom::sync`, with additions from `std::sync`.

mod notify;

pub use mazurka::sync::{
    Arc, Barrier, BarrierWaitResult, Condvar, LazyLock, LockResult, Mutex, MutexGuard, Once,
    OnceLock, OnceState, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError,
    TryLockResult, WaitTimeoutResult, Weak, mpsc,
};

pub use notify::Notify;

pub mod atomic {
    //! Mirrors `loom::sync::atomic`.

    pub use mazurka::sync::atomic::*;

    /// See [`crate::hint::spin_loop`].
    #[inline(always)]
    pub fn spin_loop_hint() {
        mazurka::hint::spin_loop();
    }
}
