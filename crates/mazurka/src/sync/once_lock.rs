//! Like `std::sync::OnceLock`.

use super::constructor::{constructor, named};
use super::once::call_once_force;
use crate::choice::halt_in_tear_down;
use runtime::{Born, Placed, Settle, Settling};
use std::fmt;

/// Like `std::sync::OnceLock`: a value that is written once.
///
/// ```
/// use mazurka::sync::{Arc, OnceLock};
/// use mazurka::thread;
///
/// mazurka::model(|| {
///     let name = Arc::new(OnceLock::new());
///     let other = thread::spawn({
///         let name = Arc::clone(&name);
///         move || *name.get_or_init(|| "other")
///     });
///     let own = *name.get_or_init(|| "main");
///     assert_eq!(other.join().unwrap(), own);
/// });
/// ```
pub struct OnceLock<T>(Placed<Once<T>>);

/// A value that is written once. It settles (gets its state in the model) together with the type
/// that contains it.
pub(super) struct Once<T> {
    once: Born<runtime::Once>,
    value: std::sync::OnceLock<T>,
}

impl<T> OnceLock<T> {
    constructor! {
        /// Creates an empty cell. A static starts with its initial value in each execution.
        pub fn new() -> OnceLock<T> {
            OnceLock(Placed::new(Once::new()))
        }
    }

    named!(|inner| inner);

    /// Returns the value, if there is one.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        self.0.get().get()
    }

    /// Returns the value, if there is one. No other thread can access it.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.0.get_mut().get_mut()
    }

    /// Returns the value. Waits for another thread to write it if there is none.
    #[track_caller]
    pub fn wait(&self) -> &T {
        let inner = self.0.get();
        inner.once.wait_force();
        inner.value.get().unwrap_or_else(|| halt_in_tear_down())
    }

    /// Writes the value, unless there is one already.
    ///
    /// # Errors
    ///
    /// Returns the argument, if there is a value already.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut given = Some(value);
        self.get_or_init(|| given.take().expect("an initializer runs once"));
        match given {
            None => Ok(()),
            Some(value) => Err(value),
        }
    }

    /// Returns the value. If there is none, initializes it, or waits for the thread that does.
    /// Threads that find a value only read it, as in `std`, so their calls do not conflict.
    #[track_caller]
    pub fn get_or_init<F: FnOnce() -> T>(&self, initialize: F) -> &T {
        self.0.get().get_or_init(initialize)
    }

    /// Returns the value, if there is one.
    pub fn into_inner(self) -> Option<T> {
        self.0.into_inner().value.into_inner()
    }

    /// Takes the value, if there is one, and leaves the cell empty.
    #[track_caller]
    pub fn take(&mut self) -> Option<T> {
        std::mem::take(self).into_inner()
    }
}

impl<T> Once<T> {
    #[track_caller]
    pub(super) const fn new() -> Once<T> {
        Once {
            once: Born::new(()),
            value: std::sync::OnceLock::new(),
        }
    }

    pub(super) fn call(&self, name: &str) {
        self.once.call(name);
    }

    #[track_caller]
    pub(super) fn get(&self) -> Option<&T> {
        match self.once.is_done() {
            true => self.value.get(),
            false => None,
        }
    }

    /// Returns the value. No other thread can access it.
    pub(super) fn get_mut(&mut self) -> Option<&mut T> {
        self.value.get_mut()
    }

    /// Returns the value without an event, for `Debug`.
    pub(super) fn peek(&self) -> Option<&T> {
        self.value.get()
    }

    #[track_caller]
    pub(super) fn get_or_init(&self, initialize: impl FnOnce() -> T) -> &T {
        if let Some(value) = self.get() {
            return value;
        }
        call_once_force(&self.once, |_| {
            let is_first = self.value.set(initialize()).is_ok();
            assert!(is_first, "an initializer runs once");
        });
        self.value.get().unwrap_or_else(|| halt_in_tear_down())
    }
}

impl<T> Settle for Once<T> {
    #[inline(always)]
    fn is_settled(&self) -> bool {
        self.once.is_settled()
    }

    fn settle(&self, settling: &Settling) {
        self.once.settle(settling);
    }
}

impl<T> Default for OnceLock<T> {
    #[track_caller]
    fn default() -> OnceLock<T> {
        OnceLock::new()
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    #[track_caller]
    fn clone(&self) -> OnceLock<T> {
        self.get()
            .cloned()
            .map_or_else(OnceLock::new, OnceLock::from)
    }
}

impl<T: PartialEq> PartialEq for OnceLock<T> {
    #[track_caller]
    fn eq(&self, other: &OnceLock<T>) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceLock<T> {}

impl<T> From<T> for OnceLock<T> {
    #[track_caller]
    fn from(value: T) -> OnceLock<T> {
        let cell = OnceLock::new();
        assert!(cell.set(value).is_ok(), "a fresh cell is empty");
        cell
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_tuple("OnceLock");
        match self.0.peek().peek() {
            Some(value) => shown.field(value),
            None => shown.field(&format_args!("<uninit>")),
        };
        shown.finish()
    }
}
