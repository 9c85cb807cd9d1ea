//! Values of Mazurka's own that two threads share, such as the result of a thread.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A share of a value that the last owner drops.
pub(crate) enum Share<T> {
    /// Dropping the value runs no code, so it does not matter who does.
    Uncounted(Arc<Mutex<T>>),
    /// The schedule decides who is last.
    Counted(runtime::Arc<Mutex<T>>),
}

impl<T> Share<T> {
    /// Shares a new value. Reports call it `what`.
    #[track_caller]
    pub(crate) fn new(value: T, what: &'static str) -> Share<T> {
        let value = Mutex::new(value);
        match mem::needs_drop::<T>() {
            true => Share::Counted(runtime::Arc::new_named(value, what)),
            false => Share::Uncounted(Arc::new(value)),
        }
    }

    /// Returns the value. No operation of the model may be performed meanwhile.
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        let value = match self {
            Share::Uncounted(value) => value,
            Share::Counted(value) => &**value,
        };
        value.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Clone for Share<T> {
    #[track_caller]
    fn clone(&self) -> Share<T> {
        match self {
            Share::Uncounted(value) => Share::Uncounted(Arc::clone(value)),
            Share::Counted(value) => Share::Counted(runtime::Arc::clone(value)),
        }
    }
}
