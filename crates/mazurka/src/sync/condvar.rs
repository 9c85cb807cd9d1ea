//! Like `std::sync::Condvar`.

use super::MutexGuard;
use super::constructor::{constructor, named};
use runtime::{Born, Placed};
use std::fmt;
use std::sync::{LockResult, PoisonError};
use std::time::Duration;

/// Like `std::sync::Condvar`. `notify_one` may wake any waiter. There are no spurious wakeups
/// unless [`Checker::spurious`](crate::Checker::spurious) allows them. A timed wait may expire at
/// any moment.
///
/// ```
/// use mazurka::sync::{Arc, Condvar, Mutex};
/// use mazurka::thread;
///
/// mazurka::model(|| {
///     let shared = Arc::new((Mutex::new(false), Condvar::new()));
///     let other = thread::spawn({
///         let shared = Arc::clone(&shared);
///         move || {
///             *shared.0.lock().unwrap() = true;
///             shared.1.notify_one();
///         }
///     });
///     let ready = shared.1.wait_while(shared.0.lock().unwrap(), |ready| !*ready).unwrap();
///     assert!(*ready);
///     drop(ready);
///     other.join().unwrap();
/// });
/// ```
pub struct Condvar(Placed<Born<runtime::Condvar>>);

/// Like `std::sync::WaitTimeoutResult`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitTimeoutResult {
    timed_out: bool,
}

impl WaitTimeoutResult {
    /// Checks whether the wait expired.
    pub fn timed_out(&self) -> bool {
        self.timed_out
    }
}

impl Condvar {
    constructor! {
        /// Creates a condition variable.
        pub fn new() -> Condvar {
            Condvar(Placed::new(Born::new(())))
        }
    }

    #[inline(always)]
    #[track_caller]
    fn own(&self) -> &Born<runtime::Condvar> {
        self.0.get()
    }

    named!(|inner| inner);

    /// Releases the mutex, waits for a notification and locks the mutex again.
    #[track_caller]
    pub fn wait<'a, T: ?Sized>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let mutex = guard.suspend();
        self.own().wait(mutex.lock_of_model());
        mutex.resume()
    }

    /// Waits as long as the condition holds.
    #[track_caller]
    pub fn wait_while<'a, T: ?Sized, F: FnMut(&mut T) -> bool>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: F,
    ) -> LockResult<MutexGuard<'a, T>> {
        while condition(&mut guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// Like `wait`, but may expire.
    #[track_caller]
    pub fn wait_timeout<'a, T: ?Sized>(
        &self,
        guard: MutexGuard<'a, T>,
        limit: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let mutex = guard.suspend();
        let is_signalled = self.own().wait_timed(mutex.lock_of_model(), limit);
        let result = WaitTimeoutResult {
            timed_out: !is_signalled,
        };
        match mutex.resume() {
            Ok(guard) => Ok((guard, result)),
            Err(poisoned) => Err(PoisonError::new((poisoned.into_inner(), result))),
        }
    }

    /// Like `wait_while`, but may expire.
    #[track_caller]
    pub fn wait_timeout_while<'a, T: ?Sized, F: FnMut(&mut T) -> bool>(
        &self,
        mut guard: MutexGuard<'a, T>,
        limit: Duration,
        mut condition: F,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let mut timed_out = false;
        while !timed_out && condition(&mut guard) {
            let (again, result) = self.wait_timeout(guard, limit)?;
            guard = again;
            timed_out = result.timed_out;
        }
        let timed_out = timed_out && condition(&mut guard);
        Ok((guard, WaitTimeoutResult { timed_out }))
    }

    /// Wakes one waiter, if there is one. Each waiter may be the one that is woken.
    #[track_caller]
    pub fn notify_one(&self) {
        self.own().signal();
    }

    /// Wakes all waiters.
    #[track_caller]
    pub fn notify_all(&self) {
        self.own().broadcast();
    }
}

impl Default for Condvar {
    #[track_caller]
    fn default() -> Condvar {
        Condvar::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}
