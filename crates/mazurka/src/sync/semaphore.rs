//! A counting semaphore, which `std` lacks.

use super::constructor::{constructor, named};
use runtime::{Born, Placed};
use std::fmt;
use std::time::Duration;

/// A counting semaphore.
///
/// ```
/// use mazurka::sync::{Arc, Semaphore};
/// use mazurka::thread;
///
/// mazurka::model(|| {
///     let done = Arc::new(Semaphore::new(0));
///     thread::spawn({
///         let done = Arc::clone(&done);
///         move || done.release()
///     });
///     done.acquire();
/// });
/// ```
pub struct Semaphore(Placed<Born<runtime::Semaphore>>);

impl Semaphore {
    constructor! {
        /// Creates a semaphore with this number of permits.
        pub fn new(permits: usize) -> Semaphore {
            Semaphore(Placed::new(Born::new(permits)))
        }
    }

    #[inline(always)]
    #[track_caller]
    fn own(&self) -> &Born<runtime::Semaphore> {
        self.0.get()
    }

    named!(|inner| inner);

    /// Waits for a permit and takes it.
    #[track_caller]
    pub fn acquire(&self) {
        self.own().acquire();
    }

    /// Takes a permit if there is one. Returns whether it took one.
    #[track_caller]
    pub fn try_acquire(&self) -> bool {
        self.own().try_acquire()
    }

    /// Waits for a permit; the wait may expire at any moment. Returns whether it took a permit.
    #[track_caller]
    pub fn acquire_timeout(&self, limit: Duration) -> bool {
        self.own().acquire_timed(limit)
    }

    /// Adds a permit.
    #[track_caller]
    pub fn release(&self) {
        self.own().release();
    }
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Semaphore").finish_non_exhaustive()
    }
}
