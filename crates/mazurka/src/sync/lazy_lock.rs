//! As `std::sync::LazyLock`.

use super::OnceLock;
use std::fmt;
use std::ops::Deref;
use std::sync::{Mutex, PoisonError};

/// As `std::sync::LazyLock`: a value that is computed by the first who needs it.
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
pub struct LazyLock<T, F = fn() -> T> {
    value: OnceLock<T>,
    /// Taken by the one who computes the value.
    compute: Mutex<Option<F>>,
}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// A new value of the execution, not yet computed.
    #[track_caller]
    pub fn new(compute: F) -> LazyLock<T, F> {
        LazyLock {
            value: OnceLock::new(),
            compute: Mutex::new(Some(compute)),
        }
    }

    /// The value; computes it, or waits for the one who does.
    ///
    /// # Panics
    ///
    /// If the computation panicked before.
    #[track_caller]
    pub fn force(this: &LazyLock<T, F>) -> &T {
        this.value.get_or_init(|| {
            let compute = this
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

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        LazyLock::force(self)
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
        match self.value.peek() {
            Some(value) => shown.field(value),
            None => shown.field(&format_args!("<uninit>")),
        };
        shown.finish()
    }
}
