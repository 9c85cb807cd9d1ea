//! As `loom::lazy_static`: what [`lazy_static!`](crate::lazy_static!) of loom expands to.

use std::fmt;
use std::marker::PhantomData;

pub use crate::thread::{AccessError, panicking, yield_now};

/// As `loom::lazy_static::Lazy`: a static that is made by the first who needs it, in each execution anew.
pub struct Lazy<T: 'static> {
    /// Makes the value.
    #[doc(hidden)]
    pub init: fn() -> T,
    #[doc(hidden)]
    pub _p: PhantomData<fn(T)>,
}

impl<T: 'static> Lazy<T> {
    /// The value of the execution at hand. It must not be used when that is over.
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
