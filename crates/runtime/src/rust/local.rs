//! Thread-local values of the threads of a model.

use crate::engine::Engine;
use crate::engine::perform::silently;
use crate::rust::outside::outside;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::error::Error;
use std::fmt;
use std::mem;

/// A key of a thread-local value, like `std::thread::LocalKey`. Values are dropped at the end of
/// their thread, before other threads can join it.
pub struct LocalKey<T: 'static> {
    make: fn() -> T,
}

/// The error for a value that was dropped or is being dropped, like `std::thread::AccessError`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccessError;

/// The thread-local values of a thread, in the order of their creation.
#[derive(Default)]
pub(crate) struct Locals {
    values: Vec<Local>,
}

struct Local {
    /// The address of the key.
    key: usize,
    /// The value, or `None` once it is dropped.
    value: Option<Box<dyn Any>>,
    /// Whether the value has a destructor. Other values stay accessible until their thread ends.
    needs_drop: bool,
}

impl<T: 'static> LocalKey<T> {
    /// Creates a key. `thread_local!` expands to this.
    pub const fn new(make: fn() -> T) -> LocalKey<T> {
        LocalKey { make }
    }

    /// Calls `access` with the value of the current thread. The first call in a thread creates the
    /// value.
    ///
    /// # Panics
    ///
    /// Panics if the value was dropped.
    #[track_caller]
    pub fn with<F, R>(&'static self, access: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        self.try_with(access)
            .expect("cannot access a Thread Local Storage value during or after destruction")
    }

    /// Calls `access` with the value of the current thread. The first call in a thread creates the
    /// value.
    ///
    /// # Errors
    ///
    /// Returns an error if the value was dropped.
    #[track_caller]
    pub fn try_with<F, R>(&'static self, access: F) -> Result<R, AccessError>
    where
        F: FnOnce(&T) -> R,
    {
        let value = match self.find() {
            Some(value) => value?,
            None => {
                // The initializer is code of the program, so it must not run in `with_locals`.
                let value: Box<T> = Box::new((self.make)());
                with_locals(|locals| locals.add::<T>(self.address(), value));
                self.find().ok_or(AccessError)??
            }
        };
        // SAFETY: the value is in a box that is dropped at the end of this thread, after the
        // closure has returned.
        Ok(access(unsafe { &*value }))
    }

    /// Makes `value` the value of the current thread, unless the thread has or had one already. In
    /// that case returns `value`.
    #[track_caller]
    fn begin_with(&'static self, value: T) -> Option<T> {
        if self.find().is_some() {
            return Some(value);
        }
        let value = Box::new(value);
        with_locals(|locals| locals.add::<T>(self.address(), value));
        None
    }

    #[track_caller]
    fn find(&'static self) -> Option<Result<*const T, AccessError>> {
        let key = self.address();
        with_locals(|locals| {
            let mut locals = locals.values.iter();
            let local = locals.find(|local| local.key == key)?;
            let value = local.value.as_deref().ok_or(AccessError);
            Some(value.map(|value| {
                let value: Option<&T> = value.downcast_ref();
                value.expect("a key has one type") as *const T
            }))
        })
    }

    fn address(&'static self) -> usize {
        (&raw const *self).addr()
    }
}

impl<T: 'static> LocalKey<Cell<T>> {
    /// Writes the thread's own value. If it does not exist yet, it is created without the
    /// initializer.
    #[track_caller]
    pub fn set(&'static self, value: T) {
        if let Some(value) = self.begin_with(Cell::new(value)) {
            self.with(|cell| cell.set(value.into_inner()));
        }
    }

    /// Returns a copy of the thread's own value.
    #[track_caller]
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(Cell::get)
    }

    /// Returns the thread's own value and leaves the default.
    #[track_caller]
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(Cell::take)
    }

    /// Writes the thread's own value and returns the old one.
    #[track_caller]
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> LocalKey<RefCell<T>> {
    /// Borrows the thread's own value.
    #[track_caller]
    pub fn with_borrow<F, R>(&'static self, access: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        self.with(|cell| access(&cell.borrow()))
    }

    /// Borrows the thread's own value mutably.
    #[track_caller]
    pub fn with_borrow_mut<F, R>(&'static self, access: F) -> R
    where
        F: FnOnce(&mut T) -> R,
    {
        self.with(|cell| access(&mut cell.borrow_mut()))
    }

    /// Writes the thread's own value. If it does not exist yet, it is created without the
    /// initializer.
    #[track_caller]
    pub fn set(&'static self, value: T) {
        if let Some(value) = self.begin_with(RefCell::new(value)) {
            self.with(|cell| *cell.borrow_mut() = value.into_inner());
        }
    }

    /// Returns the thread's own value and leaves the default.
    #[track_caller]
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(RefCell::take)
    }

    /// Writes the thread's own value and returns the old one.
    #[track_caller]
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl Locals {
    fn add<T: 'static>(&mut self, key: usize, value: Box<T>) {
        self.values.push(Local {
            key,
            value: Some(value),
            needs_drop: mem::needs_drop::<T>(),
        });
    }

    /// Returns the next value to drop, or `None` if all are dropped. The newest comes first, as in
    /// `std` on Linux.
    fn take_next(&mut self) -> Option<Box<dyn Any>> {
        let mut values = self
            .values
            .iter_mut()
            .rev()
            .filter(|local| local.needs_drop);
        values.find_map(|local| local.value.take())
    }

    /// Returns the values without destructors.
    fn take_rest(&mut self) -> Vec<Local> {
        let rest = |local: &mut Local| !local.needs_drop;
        self.values.extract_if(.., rest).collect()
    }

    /// Checks whether there is nothing to drop.
    pub(crate) fn is_empty(&self) -> bool {
        self.values.iter().all(|local| local.value.is_none())
    }

    /// Leaks the values. This is called when a thread begins, or when it was abandoned and its
    /// stack leaks, too.
    pub(crate) fn forget(&mut self) {
        self.values
            .drain(..)
            .for_each(|local| mem::forget(local.value));
    }
}

impl Engine {
    /// Checks whether the running thread has thread-local values.
    #[inline]
    pub(crate) fn has_locals(&mut self) -> bool {
        !self.thread().guests.locals.is_empty()
    }
}

#[cfg(feature = "enforce")]
std::thread_local! {
    /// The values of a thread outside of models.
    static OUTSIDE: RefCell<Locals> = const { RefCell::new(Locals { values: Vec::new() }) };
}

/// Applies `does`, which runs no code of the program, to the values of the current thread.
#[track_caller]
fn with_locals<R>(does: impl FnOnce(&mut Locals) -> R) -> R {
    outside!(OUTSIDE.with_borrow_mut(does));
    silently(|engine| does(&mut engine.thread().guests.locals))
}

/// Drops the values of the current thread at its end.
pub(crate) fn drop_locals() {
    while let Some(value) = with_locals(Locals::take_next) {
        drop(value);
    }
    drop(with_locals(Locals::take_rest));
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("already destroyed")
    }
}

impl Error for AccessError {}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}
