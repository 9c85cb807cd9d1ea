//! Mirrors `loom::cell`.

use std::fmt;

pub use mazurka::cell::{Cell, ConstPtr, MutPtr};

/// Mirrors `loom::cell::UnsafeCell`. `get` and `get_mut` return pointers whose use is tracked.
pub struct UnsafeCell<T: ?Sized>(mazurka::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// Returns a new cell. Its creation counts as a write.
    #[track_caller]
    pub fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell(mazurka::cell::UnsafeCell::new(value))
    }

    /// Returns the value.
    #[track_caller]
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Passes the closure a pointer that it must use only for reading.
    #[track_caller]
    #[inline]
    pub fn with<F, R>(&self, read: F) -> R
    where
        F: FnOnce(*const T) -> R,
    {
        self.0.with(read)
    }

    /// Passes the closure a pointer that it may use for writing.
    #[track_caller]
    #[inline]
    pub fn with_mut<F, R>(&self, write: F) -> R
    where
        F: FnOnce(*mut T) -> R,
    {
        self.0.with_mut(write)
    }

    /// Returns a pointer that counts as a read as long as it lives.
    #[track_caller]
    #[inline]
    pub fn get(&self) -> ConstPtr<T> {
        self.0.read_pointer()
    }

    /// Returns a pointer that counts as a write as long as it lives.
    #[track_caller]
    #[inline]
    pub fn get_mut(&self) -> MutPtr<T> {
        self.0.write_pointer()
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
        self.0.fmt(f)
    }
}
