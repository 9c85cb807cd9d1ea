//! As `std::sync::OnceLock`.

use super::Once;
use crate::choice::torn_down;
use std::fmt;

/// As `std::sync::OnceLock`: a value that is written once.
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
pub struct OnceLock<T> {
    once: Once,
    value: std::sync::OnceLock<T>,
}

impl<T> OnceLock<T> {
    /// A new cell of the execution, empty.
    #[track_caller]
    pub fn new() -> OnceLock<T> {
        OnceLock {
            once: Once::new(),
            value: std::sync::OnceLock::new(),
        }
    }

    /// The value, if there is one.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        match self.once.is_completed() {
            true => self.value.get(),
            false => None,
        }
    }

    /// The value without an event, for `Debug`.
    pub(super) fn peek(&self) -> Option<&T> {
        self.value.get()
    }

    /// The value, which nobody else can touch.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.value.get_mut()
    }

    /// Writes the value; gives it back if there is one.
    ///
    /// # Errors
    ///
    /// With the value, if there is one already.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut own = Some(value);
        self.get_or_init(|| own.take().expect("an initialiser runs once"));
        match own {
            None => Ok(()),
            Some(value) => Err(value),
        }
    }

    /// The value; writes it if there is none, or waits for the one who does. Looks first, as `std` does,
    /// so that threads which find the value do not conflict.
    #[track_caller]
    pub fn get_or_init(&self, initialise: impl FnOnce() -> T) -> &T {
        if let Some(value) = self.get() {
            return value;
        }
        self.once.call_once_force(|_| {
            let is_first = self.value.set(initialise()).is_ok();
            assert!(is_first, "an initialiser runs once");
        });
        self.value.get().unwrap_or_else(|| torn_down())
    }

    /// The value.
    pub fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }

    /// The value; the cell is empty then.
    #[track_caller]
    pub fn take(&mut self) -> Option<T> {
        std::mem::take(self).into_inner()
    }
}

impl<T> Default for OnceLock<T> {
    #[track_caller]
    fn default() -> OnceLock<T> {
        OnceLock::new()
    }
}

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
        match self.peek() {
            Some(value) => shown.field(value),
            None => shown.field(&format_args!("<uninit>")),
        };
        shown.finish()
    }
}
