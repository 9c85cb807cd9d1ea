//! As `std::sync::RwLock`.

use super::poison::{Poison, WasPanicking, granted};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

/// As `std::sync::RwLock`: many readers or one writer, with poisoning.
///
/// ```
/// use mazurka::sync::{Arc, RwLock};
/// use mazurka::thread;
///
/// mazurka::model(|| {
///     let pair = Arc::new(RwLock::new((0, 0)));
///     let reader = thread::spawn({
///         let pair = Arc::clone(&pair);
///         move || *pair.read().unwrap()
///     });
///     {
///         let mut pair = pair.write().unwrap();
///         pair.0 = 1;
///         pair.1 = 1;
///     }
///     let (a, b) = reader.join().unwrap();
///     assert_eq!(a, b);
/// });
/// ```
pub struct RwLock<T: ?Sized> {
    lock: runtime::RwLock,
    poison: Poison,
    /// Never contended: the model grants the lock before it is taken.
    data: std::sync::RwLock<T>,
}

/// As `std::sync::RwLockReadGuard`.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    lock: &'a runtime::RwLock,
    place: runtime::Place,
    /// None once it is given back, before the model hears of it.
    data: Option<std::sync::RwLockReadGuard<'a, T>>,
}

/// As `std::sync::RwLockWriteGuard`.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    place: runtime::Place,
    before: WasPanicking,
    /// None once it is given back, before the model hears of it.
    data: Option<std::sync::RwLockWriteGuard<'a, T>>,
}

impl<T> RwLock<T> {
    /// A new lock of the execution.
    #[track_caller]
    pub fn new(value: T) -> RwLock<T> {
        let lock = runtime::RwLock::new();
        RwLock {
            poison: Poison::of_rwlock(&lock),
            lock,
            data: std::sync::RwLock::new(value),
        }
    }

    /// The same with a name for traces, in the place of where it was made. Costs nothing in executions that are not
    /// shown.
    pub fn named(self, name: &str) -> Self {
        self.lock.call(name);
        self
    }

    /// The value; `Err` if the lock is poisoned.
    pub fn into_inner(self) -> LockResult<T> {
        let value = self
            .data
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        self.poison.wrap_own(value)
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Waits until no writer has the lock.
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let place = self.lock.read();
        self.poison.wrap(self.reader(place))
    }

    /// Waits until nobody else has the lock.
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let place = self.lock.write();
        self.poison.wrap(self.writer(place))
    }

    /// Reads if no writer has or wants the lock.
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        match self.lock.try_read() {
            Some(place) => self.poison.wrap_try(self.reader(place)),
            None => Err(TryLockError::WouldBlock),
        }
    }

    /// Writes if nobody else has the lock.
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        match self.lock.try_write() {
            Some(place) => self.poison.wrap_try(self.writer(place)),
            None => Err(TryLockError::WouldBlock),
        }
    }

    /// Whether a thread panicked while it wrote.
    #[track_caller]
    pub fn is_poisoned(&self) -> bool {
        self.poison.look()
    }

    /// Forgets the poison.
    #[track_caller]
    pub fn clear_poison(&self) {
        self.poison.clear();
    }

    /// The value, which nobody else can touch.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        let value = self.data.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.poison.wrap_own(value)
    }

    fn reader(&self, place: runtime::Place) -> RwLockReadGuard<'_, T> {
        RwLockReadGuard {
            lock: &self.lock,
            place,
            data: Some(granted(self.data.try_read())),
        }
    }

    fn writer(&self, place: runtime::Place) -> RwLockWriteGuard<'_, T> {
        let data = Some(granted(self.data.try_write()));
        RwLockWriteGuard {
            lock: self,
            place,
            before: Poison::enter(),
            data,
        }
    }
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    fn drop(&mut self) {
        self.data = None;
        self.lock.release(&self.place);
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    fn drop(&mut self) {
        self.data = None;
        self.lock.poison.leave(self.before);
        self.lock.lock.release(&self.place);
    }
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.data
            .as_ref()
            .expect("a guard has the data until it is dropped")
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.data
            .as_ref()
            .expect("a guard has the data until it is dropped")
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.data
            .as_mut()
            .expect("a guard has the data until it is dropped")
    }
}

impl<T: Default> Default for RwLock<T> {
    #[track_caller]
    fn default() -> RwLock<T> {
        RwLock::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    #[track_caller]
    fn from(value: T) -> RwLock<T> {
        RwLock::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("RwLock");
        match self.data.try_read() {
            Ok(data) => shown.field("data", &&*data),
            Err(TryLockError::Poisoned(data)) => shown.field("data", &&**data.get_ref()),
            Err(TryLockError::WouldBlock) => shown.field("data", &format_args!("<locked>")),
        };
        shown
            .field("poisoned", &self.poison.peek())
            .finish_non_exhaustive()
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
