//! Like `std::cell`, with detection of data races.

pub use runtime::{Cell, ConstPtr, MutPtr, PlainCell};
// Threads cannot share these types, so the types of `std` suffice.
pub use std::cell::{BorrowError, BorrowMutError, LazyCell, OnceCell, Ref, RefCell, RefMut};

use std::fmt;

/// Like `std::cell::UnsafeCell`: plain memory that threads share without synchronization.
///
/// Two accesses are a data race if at least one of them is a write and C11's happens-before does
/// not order them. The race is found even if it has no effect in the current interleaving.
///
/// ```
/// use mazurka::cell::UnsafeCell;
/// use mazurka::sync::Arc;
/// use mazurka::{Checker, FailureKind, thread};
///
/// struct Shared(UnsafeCell<u32>);
/// // Claims what is not true: nothing orders the accesses.
/// unsafe impl Sync for Shared {}
///
/// let report = Checker::new().check(|| {
///     let shared = Arc::new(Shared(UnsafeCell::new(0)));
///     let other = thread::spawn({
///         let shared = Arc::clone(&shared);
///         move || shared.0.with_mut(|value| unsafe { *value = 1 })
///     });
///     shared.0.with(|value| unsafe { *value });
///     other.join().unwrap();
/// });
/// assert_eq!(report.errors[0].kind, FailureKind::DataRace);
/// ```
pub struct UnsafeCell<T: ?Sized> {
    plain: runtime::Plain,
    value: std::cell::UnsafeCell<T>,
}

impl<T> UnsafeCell<T> {
    /// Creates a cell. Its creation counts as a write.
    #[track_caller]
    pub fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell {
            plain: runtime::Plain::new(),
            value: std::cell::UnsafeCell::new(value),
        }
    }

    /// Sets the name of the cell in traces, which otherwise show where it is created. Naming costs
    /// nothing in executions that the report does not show.
    #[track_caller]
    pub fn named(self, name: &str) -> Self {
        self.plain.call(name);
        self
    }

    /// Returns the value.
    #[track_caller]
    pub fn into_inner(self) -> T {
        self.plain.take();
        self.value.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Returns a pointer to the value. Accesses through it are not observed, so the call counts as
    /// a write. Where threads only read, use [`UnsafeCell::with`].
    #[track_caller]
    #[inline]
    pub fn get(&self) -> *mut T {
        self.plain.write();
        self.value.get()
    }

    /// Returns a reference to the value. The exclusive borrow shows that no other thread has
    /// access.
    #[track_caller]
    pub fn get_mut(&mut self) -> &mut T {
        self.plain.take();
        self.value.get_mut()
    }

    /// Calls the closure with a pointer for reading. The closure must not write through it.
    #[track_caller]
    #[inline]
    pub fn with<F, R>(&self, read: F) -> R
    where
        F: FnOnce(*const T) -> R,
    {
        let _reading = self.plain.begin_read();
        read(self.value.get())
    }

    /// Returns a pointer that counts as a read as long as it lives, like loom's `get`.
    #[track_caller]
    #[inline]
    pub fn read_pointer(&self) -> ConstPtr<T> {
        ConstPtr::new(&self.plain, self.value.get())
    }

    /// Returns a pointer that counts as a write as long as it lives, like loom's `get_mut`.
    #[track_caller]
    #[inline]
    pub fn write_pointer(&self) -> MutPtr<T> {
        MutPtr::new(&self.plain, self.value.get())
    }

    /// Calls the closure with a pointer for reading and writing.
    #[track_caller]
    #[inline]
    pub fn with_mut<F, R>(&self, write: F) -> R
    where
        F: FnOnce(*mut T) -> R,
    {
        let _writing = self.plain.begin_write();
        write(self.value.get())
    }
}

impl<T: Default> Default for UnsafeCell<T> {
    #[track_caller]
    fn default() -> UnsafeCell<T> {
        UnsafeCell::new(T::default())
    }
}

impl<T> From<T> for UnsafeCell<T> {
    #[track_caller]
    fn from(value: T) -> UnsafeCell<T> {
        UnsafeCell::new(value)
    }
}

impl<T: ?Sized> fmt::Debug for UnsafeCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnsafeCell").finish_non_exhaustive()
    }
}
