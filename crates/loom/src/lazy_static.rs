//! Mirrors `loom::lazy_static`: re-exported names, and the type that loom's `lazy_static!` uses.
//! Here [`lazy_static!`](crate::lazy_static!) uses `mazurka::sync::Lazy` instead.

use std::fmt;
use std::marker::PhantomData;

pub use crate::thread::{AccessError, panicking, yield_now};

/// Mirrors `loom::lazy_static::Lazy`: a static initialized on first use in each execution.
pub struct Lazy<T: 'static> {
    /// Creates the value.
    #[doc(hidden)]
    pub init: fn() -> T,
    #[doc(hidden)]
    pub _p: PhantomData<fn(T)>,
}

impl<T: 'static> Lazy<T> {
    /// Returns the value for the current execution. It must not be used after that execution.
    #[track_caller]
    pub fn get(&'static self) -> &'static T {
        let address = (&raw const *self).addr();
        mazurka::sync::Lazy::at(address, self.init)
    }
}

impl<T: fmt::Debug> fmt::Debug for Lazy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lazy").finish_non_exhaustive()
    }
}
