//! Like `std::sync::RwLock`.

use super::constructor::{constructor, named};
use super::poison::{Poison, WasPanicking, granted, poisoned};
use runtime::{Born, Placed, Settle, Settling};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

/// Like `std::sync::RwLock`: many readers or one writer, with poisoning.
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
pub struct RwLock<T: ?Sized>(Placed<Locked<T>>);

struct Locked<T: ?Sized> {
    lock: Born<runtime::RwLock>,
    poison: Poison,
    /// Never contended: it is locked only once `lock` has been granted.
    data: std::sync::RwLock<T>,
}

/// Like `std::sync::RwLockReadGuard`.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    lock: &'a Born<runtime::RwLock>,
    /// The position of this access in the order of the lock.
    place: runtime::Place,
    /// `None` once the data has been released, which happens before the model's lock is released.
    data: Option<std::sync::RwLockReadGuard<'a, T>>,
}

/// Like `std::sync::RwLockWriteGuard`.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    lock: &'a Locked<T>,
    /// The position of this access in the order of the lock.
    place: runtime::Place,
    before: WasPanicking,
    /// `None` once the data has been released, which happens before the model's lock is released.
    data: Option<std::sync::RwLockWriteGuard<'a, T>>,
}

impl<T> RwLock<T> {
    constructor! {
        /// Creates a lock. A static starts in each execution with a bitwise copy of its initial
        /// value.
        pub fn new(value: T) -> RwLock<T> {
            RwLock(Placed::new(Locked {
                lock: Born::new(()),
                poison: Poison::new(),
                data: std::sync::RwLock::new(value),
            }))
        }
    }

    named!(|inner| inner.lock);
}

impl<T: ?Sized> RwLock<T> {
    /// Waits for all writers that requested the lock earlier, and locks it for reading.
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let inner = self.0.get();
        let place = inner.lock.read();
        inner.poison.wrap(inner.reader(place))
    }

    /// Waits until no other thread has the lock, and locks it for writing.
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let inner = self.0.get();
        let place = inner.lock.write();
        inner.poison.wrap(inner.writer(place))
    }

    /// Locks for reading if no writer has the lock or waits for it.
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        let inner = self.0.get();
        match inner.lock.try_read() {
            Some(place) => inner.poison.wrap_try(inner.reader(place)),
            None => Err(TryLockError::WouldBlock),
        }
    }

    /// Locks for writing if no other thread has the lock.
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        let inner = self.0.get();
        match inner.lock.try_write() {
            Some(place) => inner.poison.wrap_try(inner.writer(place)),
            None => Err(TryLockError::WouldBlock),
        }
    }

    poisoned! {
        /// Checks whether a thread panicked while it held the lock for writing.
        is_poisoned
    }
}

impl<T: ?Sized> Locked<T> {
    fn reader(&self, place: runtime::Place) -> RwLockReadGuard<'_, T> {
        RwLockReadGuard {
            lock: &self.lock,
            place,
            data: Some(runtime::in_object(|| {
                granted(self.data.try_read(), || self.data.read())
            })),
        }
    }

    fn writer(&self, place: runtime::Place) -> RwLockWriteGuard<'_, T> {
        let data = Some(granted(self.data.try_write(), || self.data.write()));
        RwLockWriteGuard {
            lock: self,
            place,
            before: Poison::enter(),
            data,
        }
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// Converts the guard to a read guard. No other writer can lock in between.
    #[track_caller]
    pub fn downgrade(mut this: RwLockWriteGuard<'a, T>) -> RwLockReadGuard<'a, T> {
        this.data = None;
        let lock = this.lock;
        lock.poison.leave(this.before);
        let mut place = this.place;
        std::mem::forget(this);
        lock.lock.downgrade(&mut place);
        lock.reader(place)
    }
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    fn drop(&mut self) {
        runtime::in_object(|| self.data = None);
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

impl<T: ?Sized> Settle for Locked<T> {
    #[inline(always)]
    fn is_settled(&self) -> bool {
        self.lock.is_settled()
    }

    fn settle(&self, settling: &Settling) {
        self.lock.settle(settling);
        self.poison.settle_with_rwlock(settling, self.lock.get());
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
        match self.0.peek().data.try_read() {
            Ok(data) => shown.field("data", &&*data),
            Err(TryLockError::Poisoned(data)) => shown.field("data", &&**data.get_ref()),
            Err(TryLockError::WouldBlock) => shown.field("data", &format_args!("<locked>")),
        };
        shown
            .field("poisoned", &self.0.peek().poison.peek())
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
