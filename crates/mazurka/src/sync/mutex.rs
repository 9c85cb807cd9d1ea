//! Like `std::sync::Mutex`.

use super::constructor::{constructor, named};
use super::poison::{Poison, WasPanicking, granted, poisoned};
use runtime::{Born, Placed, Settle, Settling};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

/// Like `std::sync::Mutex`: mutual exclusion, with poisoning.
///
/// ```
/// use mazurka::sync::{Arc, Mutex};
/// use mazurka::thread;
///
/// mazurka::model(|| {
///     let count = Arc::new(Mutex::new(0));
///     let other = thread::spawn({
///         let count = Arc::clone(&count);
///         move || *count.lock().unwrap() += 1
///     });
///     *count.lock().unwrap() += 1;
///     other.join().unwrap();
///     assert_eq!(*count.lock().unwrap(), 2);
/// });
/// ```
pub struct Mutex<T: ?Sized>(Placed<Locked<T>>);

pub(super) struct Locked<T: ?Sized> {
    lock: Born<runtime::Mutex>,
    poison: Poison,
    /// Never contended: it is locked only once `lock` has been granted.
    data: std::sync::Mutex<T>,
}

/// Like `std::sync::MutexGuard`.
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized> {
    mutex: &'a Locked<T>,
    before: WasPanicking,
    /// `None` once the data has been released, which happens before the model's lock is released.
    data: Option<std::sync::MutexGuard<'a, T>>,
}

impl<T> Mutex<T> {
    constructor! {
        /// Creates a mutex. A static starts in each execution with a bitwise copy of its initial
        /// value.
        pub fn new(value: T) -> Mutex<T> {
            Mutex(Placed::new(Locked {
                lock: Born::new(()),
                poison: Poison::new(),
                data: std::sync::Mutex::new(value),
            }))
        }
    }

    named!(|inner| inner.lock);
}

impl<T: ?Sized> Mutex<T> {
    /// Waits for the mutex and locks it.
    #[track_caller]
    #[inline]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let inner = self.0.get();
        inner.lock.lock();
        inner.poison.wrap(inner.guard())
    }

    /// Locks the mutex if it is free.
    #[track_caller]
    #[inline]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let inner = self.0.get();
        match inner.lock.try_lock() {
            true => inner.poison.wrap_try(inner.guard()),
            false => Err(TryLockError::WouldBlock),
        }
    }

    poisoned! {
        /// Checks whether a thread panicked while it held the mutex.
        is_poisoned
    }
}

impl<T: ?Sized> Locked<T> {
    /// Returns the lock of the model.
    pub(super) fn lock_of_model(&self) -> &Born<runtime::Mutex> {
        &self.lock
    }

    /// Returns the guard after a wait for a condition variable, once the lock is granted again.
    #[track_caller]
    pub(super) fn resume(&self) -> LockResult<MutexGuard<'_, T>> {
        self.poison.wrap(self.guard())
    }

    /// Returns the guard of the lock, which has been granted.
    fn guard(&self) -> MutexGuard<'_, T> {
        MutexGuard {
            mutex: self,
            before: Poison::enter(),
            data: Some(granted(self.data.try_lock(), || self.data.lock())),
        }
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// Releases the data but not yet the lock, before a wait for a condition variable.
    pub(super) fn suspend(mut self) -> &'a Locked<T> {
        let mutex = self.mutex;
        self.data = None;
        std::mem::forget(self);
        mutex
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.data = None;
        self.mutex.poison.leave(self.before);
        self.mutex.lock.unlock();
    }
}

impl<T: ?Sized> Settle for Locked<T> {
    #[inline(always)]
    fn is_settled(&self) -> bool {
        self.lock.is_settled()
    }

    fn settle(&self, settling: &Settling) {
        self.lock.settle(settling);
        self.poison.settle_with_mutex(settling, self.lock.get());
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.data
            .as_ref()
            .expect("a guard has the data until it is dropped")
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        self.data
            .as_mut()
            .expect("a guard has the data until it is dropped")
    }
}

impl<T: Default> Default for Mutex<T> {
    #[track_caller]
    fn default() -> Mutex<T> {
        Mutex::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    #[track_caller]
    fn from(value: T) -> Mutex<T> {
        Mutex::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Mutex");
        match self.0.peek().data.try_lock() {
            Ok(data) => shown.field("data", &&*data),
            Err(TryLockError::Poisoned(data)) => shown.field("data", &&**data.get_ref()),
            Err(TryLockError::WouldBlock) => shown.field("data", &"<locked>"),
        };
        shown
            .field("poisoned", &self.0.peek().poison.peek())
            .finish_non_exhaustive()
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
