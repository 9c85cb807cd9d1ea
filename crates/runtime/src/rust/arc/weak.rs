//! References that do not keep a value alive.

use super::Arc;
use super::counter::Counter;
use crate::engine::perform::silently;
#[cfg(feature = "enforce")]
use crate::rust::outside::event;
use crate::rust::outside::outside;
#[cfg(feature = "enforce")]
use explore::OpKind;
use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::Weak as WeakShared;

/// A weak reference, like `std::sync::Weak`.
pub struct Weak<T: ?Sized> {
    value: ManuallyDrop<WeakShared<T>>,
    /// The counter, or `None` if the reference belongs to no value.
    counter: Option<Counter>,
}

impl<T> Weak<T> {
    /// Creates a reference to no value.
    pub const fn new() -> Weak<T> {
        Weak::of(WeakShared::new(), None)
    }
}

impl<T: ?Sized> Weak<T> {
    pub(super) const fn of(value: WeakShared<T>, counter: Option<Counter>) -> Weak<T> {
        Weak {
            value: ManuallyDrop::new(value),
            counter,
        }
    }

    /// Returns a new share of the value, or `None` if the value is not alive.
    #[track_caller]
    pub fn upgrade(&self) -> Option<Arc<T>> {
        let counter = self.counter?;
        outside!(event(OpKind::ReadModifyWrite, || {
            Some(Arc::of(self.value.upgrade()?, counter))
        }));
        let is_alive = counter.upgrade();
        let value = self.value.upgrade().filter(|_| is_alive)?;
        Some(Arc::of(value, counter))
    }

    /// Returns the number of owners.
    #[track_caller]
    pub fn strong_count(&self) -> usize {
        outside!(self.counter.map_or(0, |_| event(OpKind::Load, || {
            WeakShared::strong_count(&self.value)
        })));
        self.counter.map_or(0, Counter::read_shares)
    }

    /// Returns the number of weak references, or 0 if the value is not alive.
    #[track_caller]
    pub fn weak_count(&self) -> usize {
        let count = || WeakShared::weak_count(&self.value);
        outside!(self.counter.map_or(0, |_| event(OpKind::Load, count)));
        self.counter.map_or(0, |counter| counter.read_weak(count))
    }

    /// Checks whether both references are to the same value.
    pub fn ptr_eq(&self, other: &Weak<T>) -> bool {
        WeakShared::ptr_eq(&self.value, &other.value)
    }

    /// Returns the address at which the value is or was.
    #[track_caller]
    pub fn as_ptr(&self) -> *const T {
        let pointer = self.value.as_ptr();
        outside!(pointer);
        if let Some(counter) = self.counter {
            let address = pointer.cast::<()>().addr();
            silently(|engine| engine.guests.raw_arcs.insert(address, counter.number));
        }
        pointer
    }

    /// Returns the address as [`Weak::as_ptr`] does. [`Weak::from_raw`] takes back the reference.
    pub fn into_raw(self) -> *const T {
        ManuallyDrop::new(self).as_ptr()
    }

    /// Takes back the reference that [`Weak::into_raw`] kept.
    ///
    /// # Safety
    ///
    /// As for `std::sync::Weak::from_raw`, the pointer must come from `into_raw` in this execution,
    /// and must represent a reference that exists.
    #[track_caller]
    pub unsafe fn from_raw(pointer: *const T) -> Weak<T> {
        #[cfg(feature = "enforce")]
        if crate::is_outside() {
            // SAFETY: as promised by the caller. The value is in an `Arc` of `std`.
            let value = unsafe { WeakShared::from_raw(pointer) };
            return Weak::of(value, Some(Counter::outside()));
        }
        let address = pointer.cast::<()>().addr();
        let number = silently(|engine| engine.guests.raw_arcs.get(&address).copied());
        // SAFETY: as promised by the caller. The value is in an `Arc` of `std`.
        let value = unsafe { WeakShared::from_raw(pointer) };
        Weak::of(value, number.map(Counter::known))
    }

    #[track_caller]
    fn change(&self, what: &'static str, change: isize) {
        if let Some(counter) = self.counter {
            counter.change_weak(what, change);
        }
    }
}

impl<T: ?Sized> Clone for Weak<T> {
    #[track_caller]
    fn clone(&self) -> Weak<T> {
        self.change("Weak::clone", 1);
        let clone = || Weak::of(WeakShared::clone(&self.value), self.counter);
        outside!(match self.counter {
            Some(_) => event(OpKind::ReadModifyWrite, clone),
            None => clone(),
        });
        clone()
    }
}

impl<T: ?Sized> Drop for Weak<T> {
    #[track_caller]
    fn drop(&mut self) {
        // SAFETY: the field is not used again.
        let value = unsafe { ManuallyDrop::take(&mut self.value) };
        outside!(match self.counter {
            Some(_) => event(OpKind::ReadModifyWrite, || drop(value)),
            None => drop(value),
        });
        self.change("Weak::drop", -1);
        drop(value);
    }
}

impl<T> Default for Weak<T> {
    fn default() -> Weak<T> {
        Weak::new()
    }
}

impl<T: ?Sized> fmt::Debug for Weak<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(Weak)")
    }
}
