//! A counting semaphore, which `std` does not have.

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
pub struct Semaphore(runtime::Semaphore);

impl Semaphore {
    /// A semaphore with this many permits.
    #[track_caller]
    pub fn new(permits: usize) -> Semaphore {
        Semaphore(runtime::Semaphore::new(permits))
    }

    /// The same with a name for traces, in the place of where it was made. Costs nothing in executions that are not
    /// shown.
    pub fn named(self, name: &str) -> Self {
        self.0.call(name);
        self
    }

    /// Waits for a permit and takes it.
    #[track_caller]
    pub fn acquire(&self) {
        self.0.acquire();
    }

    /// Takes a permit if there is one; whether there was.
    #[track_caller]
    pub fn try_acquire(&self) -> bool {
        self.0.try_acquire()
    }

    /// Waits for a permit, but may expire; whether it got one.
    #[track_caller]
    pub fn acquire_timeout(&self, _limit: Duration) -> bool {
        self.0.acquire_timed()
    }

    /// Adds a permit.
    #[track_caller]
    pub fn release(&self) {
        self.0.release();
    }
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Semaphore").finish_non_exhaustive()
    }
}
