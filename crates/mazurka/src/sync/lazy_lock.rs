//! Like `std::sync::LazyLock`.

use super::constructor::{constructor, named};
use super::once_lock::Once;
use crate::choice::halt_in_tear_down;
use runtime::{Placed, Settle, Settling};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

/// Like `std::sync::LazyLock`: the first thread that needs the value computes it.
///
/// ```
/// use mazurka::sync::{Arc, LazyLock};
/// use mazurka::thread;
///
/// mazurka::model(|| {
///     let answer = Arc::new(LazyLock::new(|| 6 * 7));
///     let other = thread::spawn({
///         let answer = Arc::clone(&answer);
///         move || **answer
///     });
///     assert_eq!(**answer, 42);
///     assert_eq!(other.join().unwrap(), 42);
/// });
/// ```
pub struct LazyLock<T, F = fn() -> T>(Placed<Lazy<T, F>>);

struct Lazy<T, F> {
    value: Once<T>,
    /// The thread that computes the value takes this function.
    compute: Mutex<Option<F>>,
}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    constructor! {
        /// Creates a value that is not yet computed. A static starts with its initial value in each
        /// execution.
        pub fn new(compute: F) -> LazyLock<T, F> {
            LazyLock(Placed::new(Lazy {
                value: Once::new(),
                compute: Mutex::new(Some(compute)),
            }))
        }
    }

    named!(|inner| inner.value);

    /// Returns the value. Computes it first, or waits for the thread that computes it.
    ///
    /// # Panics
    ///
    /// Panics if an earlier computation panicked.
    #[track_caller]
    pub fn force(this: &LazyLock<T, F>) -> &T {
        let inner = this.0.get();
        inner.value.get_or_init(|| {
            let compute = inner
                .compute
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            match compute {
                Some(compute) => compute(),
                None => panic!("LazyLock instance has previously been poisoned"),
            }
        })
    }
}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// Returns the value if it is computed. No other thread can access it.
    pub fn get_mut(this: &mut LazyLock<T, F>) -> Option<&mut T> {
        this.0.get_mut().value.get_mut()
    }

    /// Returns the value, computing it first if necessary. No other thread can access it.
    ///
    /// # Panics
    ///
    /// Panics if an earlier computation panicked.
    #[track_caller]
    pub fn force_mut(this: &mut LazyLock<T, F>) -> &mut T {
        LazyLock::force(this);
        LazyLock::get_mut(this).unwrap_or_else(|| halt_in_tear_down())
    }
}

impl<T, F> LazyLock<T, F> {
    /// Returns the value if it is computed.
    #[track_caller]
    pub fn get(this: &LazyLock<T, F>) -> Option<&T> {
        this.0.get().value.get()
    }
}

impl<T, F> Settle for Lazy<T, F> {
    #[inline(always)]
    fn is_settled(&self) -> bool {
        self.value.is_settled()
    }

    fn settle(&self, settling: &Settling) {
        self.value.settle(settling);
    }
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        LazyLock::force(self)
    }
}

impl<T, F: FnOnce() -> T> DerefMut for LazyLock<T, F> {
    #[track_caller]
    fn deref_mut(&mut self) -> &mut T {
        LazyLock::force_mut(self)
    }
}

impl<T: Default> Default for LazyLock<T> {
    #[track_caller]
    fn default() -> LazyLock<T> {
        LazyLock::new(T::default)
    }
}

impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_tuple("LazyLock");
        match self.0.peek().value.peek() {
            Some(value) => shown.field(value),
            None => shown.field(&format_args!("<uninit>")),
        };
        shown.finish()
    }
}
