//! Cells whose values are copied or moved in and out.

use crate::Plain;
use std::cmp::Ordering;
use std::fmt;
use std::panic::Location;

/// A `std::cell::Cell` whose accesses are checked for data races. Threads can share the cell only
/// if unsafe code permits it.
pub struct Cell<T> {
    plain: Plain,
    value: std::cell::Cell<T>,
}

impl<T> Cell<T> {
    /// Creates a cell, which counts as written by its creator.
    #[track_caller]
    #[inline]
    pub fn new(value: T) -> Cell<T> {
        Cell {
            plain: Plain::called("Cell", Location::caller()),
            value: std::cell::Cell::new(value),
        }
    }

    /// Writes a value.
    #[track_caller]
    #[inline]
    pub fn set(&self, value: T) {
        drop(self.replace(value));
    }

    /// Writes a value and returns the old one.
    #[track_caller]
    #[inline]
    pub fn replace(&self, value: T) -> T {
        self.plain.write();
        self.value.replace(value)
    }

    /// Returns a copy of the value.
    #[track_caller]
    #[inline]
    pub fn get(&self) -> T
    where
        T: Copy,
    {
        self.plain.read();
        self.value.get()
    }

    /// Returns the value and leaves the default value in its place.
    #[track_caller]
    pub fn take(&self) -> T
    where
        T: Default,
    {
        self.replace(T::default())
    }

    /// Replaces the value with the result of the closure.
    #[track_caller]
    pub fn update(&self, change: impl FnOnce(T) -> T)
    where
        T: Copy,
    {
        self.set(change(self.get()));
    }

    /// Exchanges the values of two cells.
    #[track_caller]
    pub fn swap(&self, other: &Cell<T>) {
        if !std::ptr::eq(self, other) {
            self.plain.write();
            other.plain.write();
            self.value.swap(&other.value);
        }
    }

    /// Returns the value, to which the caller has exclusive access.
    #[track_caller]
    pub fn get_mut(&mut self) -> &mut T {
        self.plain.take();
        self.value.get_mut()
    }

    /// Returns the value.
    #[track_caller]
    pub fn into_inner(self) -> T {
        self.plain.take();
        self.value.into_inner()
    }
}

impl<T: Default> Default for Cell<T> {
    #[track_caller]
    fn default() -> Cell<T> {
        Cell::new(T::default())
    }
}

impl<T> From<T> for Cell<T> {
    #[track_caller]
    fn from(value: T) -> Cell<T> {
        Cell::new(value)
    }
}

impl<T: Copy> Clone for Cell<T> {
    #[track_caller]
    fn clone(&self) -> Cell<T> {
        Cell::new(self.get())
    }
}

impl<T: Copy + PartialEq> PartialEq for Cell<T> {
    #[track_caller]
    fn eq(&self, other: &Cell<T>) -> bool {
        self.get() == other.get()
    }
}

impl<T: Copy + Eq> Eq for Cell<T> {}

impl<T: Copy + PartialOrd> PartialOrd for Cell<T> {
    #[track_caller]
    fn partial_cmp(&self, other: &Cell<T>) -> Option<Ordering> {
        self.get().partial_cmp(&other.get())
    }
}

impl<T: Copy + Ord> Ord for Cell<T> {
    #[track_caller]
    fn cmp(&self, other: &Cell<T>) -> Ordering {
        self.get().cmp(&other.get())
    }
}

impl<T: Copy + fmt::Debug> fmt::Debug for Cell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cell")
            .field("value", &self.value.get())
            .finish()
    }
}
