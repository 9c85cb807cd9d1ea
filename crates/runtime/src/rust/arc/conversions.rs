//! Conversions from and to raw pointers, boxes and the `Arc` of `std`.

use super::Arc;
use super::counter::Counter;
use crate::engine::perform::silently;
use crate::rust::outside::outside;
use std::any::Any;
use std::borrow::Cow;
use std::ffi::{CStr, CString, OsStr, OsString};
use std::mem::{ManuallyDrop, MaybeUninit};
use std::path::{Path, PathBuf};
use std::sync::Arc as Shared;

impl<T> Arc<T> {
    /// Creates an uninitialized value.
    #[track_caller]
    pub fn new_uninit() -> Arc<MaybeUninit<T>> {
        Arc::new(MaybeUninit::uninit())
    }

    /// Creates an uninitialized value whose bytes are 0.
    #[track_caller]
    pub fn new_zeroed() -> Arc<MaybeUninit<T>> {
        Arc::new(MaybeUninit::zeroed())
    }

    /// Converts to an `Arc` of an unsized type. Only types of the standard library coerce
    /// implicitly.
    ///
    /// ```
    /// # use runtime::{Arc, Config, Model};
    /// # let mut model = Model::new(Config::default(), || {
    /// let number = Arc::new(5);
    /// let shown: Arc<dyn std::fmt::Display> = Arc::unsize(Arc::clone(&number), |number| number as _);
    /// assert_eq!((shown.to_string(), Arc::strong_count(&number)), ("5".to_owned(), 2));
    /// # });
    /// # let mut strategy = explore::Algorithm::Optimal.strategy(explore::Options::default());
    /// # while let Err(_) = explore::explore(&mut model, &mut strategy, &mut ()) {
    /// #     strategy = explore::Algorithm::Optimal.strategy(explore::Options::default());
    /// # }
    /// # assert!(model.failure().is_none());
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the closure returns a value other than its argument.
    pub fn unsize<U: ?Sized>(this: Arc<T>, coerce: impl FnOnce(Shared<T>) -> Shared<U>) -> Arc<U> {
        let counter = this.counter;
        let shared = this.into_shared();
        let address = Shared::as_ptr(&shared).addr();
        let shared = coerce(shared);
        let is_same = Shared::as_ptr(&shared).cast::<()>().addr() == address;
        assert!(is_same, "`unsize` gives another type to the same value");
        Arc::of(shared, counter)
    }
}

impl<T> Arc<[T]> {
    /// Creates uninitialized values.
    #[track_caller]
    pub fn new_uninit_slice(len: usize) -> Arc<[MaybeUninit<T>]> {
        Arc::from_std(Shared::new_uninit_slice(len))
    }

    /// Creates uninitialized values whose bytes are 0.
    #[track_caller]
    pub fn new_zeroed_slice(len: usize) -> Arc<[MaybeUninit<T>]> {
        let zeroes = (0..len).map(|_| MaybeUninit::zeroed());
        Arc::from_std(zeroes.collect())
    }
}

impl<T> Arc<MaybeUninit<T>> {
    /// Converts to an `Arc` of the initialized value.
    ///
    /// # Safety
    ///
    /// As for `std::sync::Arc::assume_init`, the value must be initialized.
    pub unsafe fn assume_init(self) -> Arc<T> {
        let counter = self.counter;
        // SAFETY: as promised by the caller.
        Arc::of(unsafe { self.into_shared().assume_init() }, counter)
    }
}

impl<T> Arc<[MaybeUninit<T>]> {
    /// Converts to an `Arc` of the initialized values.
    ///
    /// # Safety
    ///
    /// As for `std::sync::Arc::assume_init`, the values must be initialized.
    pub unsafe fn assume_init(self) -> Arc<[T]> {
        let counter = self.counter;
        // SAFETY: as promised by the caller.
        Arc::of(unsafe { self.into_shared().assume_init() }, counter)
    }
}

impl<T: ?Sized> Arc<T> {
    /// Takes over the value of an `Arc` of `std`, like `loom::sync::Arc::from_std`. This is a way
    /// to an `Arc` of an unsized type, because only the `Arc` of `std` coerces to one.
    ///
    /// ```
    /// # use runtime::{Arc, Config, Model};
    /// # let mut model = Model::new(Config::default(), || {
    /// let numbers: std::sync::Arc<[u8]> = std::sync::Arc::new([1, 2, 3]);
    /// let numbers: Arc<[u8]> = Arc::from_std(numbers);
    /// assert_eq!(numbers.len(), 3);
    /// # });
    /// # let mut strategy = explore::Algorithm::Optimal.strategy(explore::Options::default());
    /// # explore::explore(&mut model, &mut strategy, &mut ()).unwrap();
    /// # assert!(model.failure().is_none());
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the value has other owners or weak references.
    #[track_caller]
    pub fn from_std(mut value: Shared<T>) -> Arc<T> {
        assert!(
            Shared::get_mut(&mut value).is_some(),
            "Arc provided to `from_std` is not unique"
        );
        Arc::of(value, Counter::new())
    }

    /// Returns the address of the value.
    #[track_caller]
    pub fn as_ptr(this: &Arc<T>) -> *const T {
        let pointer = Shared::as_ptr(&this.value);
        outside!(pointer);
        let address = pointer.cast::<()>().addr();
        silently(|engine| engine.guests.raw_arcs.insert(address, this.counter.number));
        pointer
    }

    /// Returns the address of the value. The share is kept until [`Arc::from_raw`] takes it back.
    pub fn into_raw(this: Arc<T>) -> *const T {
        Arc::as_ptr(&ManuallyDrop::new(this))
    }

    /// Takes back the share that [`Arc::into_raw`] kept.
    ///
    /// # Safety
    ///
    /// As for `std::sync::Arc::from_raw`, the pointer must come from `into_raw` (or `as_ptr`) in
    /// this execution, and must represent a share that exists.
    ///
    /// # Panics
    ///
    /// Panics if the pointer does not belong to an `Arc` of this execution.
    #[track_caller]
    pub unsafe fn from_raw(pointer: *const T) -> Arc<T> {
        #[cfg(feature = "enforce")]
        if crate::is_outside() {
            // SAFETY: as promised by the caller. The value is in an `Arc` of `std`.
            let value = unsafe { Shared::from_raw(pointer) };
            return Arc::of(value, Counter::outside());
        }
        let address = pointer.cast::<()>().addr();
        let number = silently(|engine| engine.guests.raw_arcs.get(&address).copied());
        let number = number.expect("the pointer is not of an Arc of this execution");
        // SAFETY: as promised by the caller. The value is in an `Arc` of `std`.
        let value = unsafe { Shared::from_raw(pointer) };
        Arc::of(value, Counter::known(number))
    }

    /// Adds a share of the value that a raw pointer points to.
    ///
    /// # Safety
    ///
    /// The conditions are those of [`Arc::from_raw`], except that no share is taken over.
    #[track_caller]
    pub unsafe fn increment_strong_count(pointer: *const T) {
        // SAFETY: as promised by the caller.
        let this = ManuallyDrop::new(unsafe { Arc::from_raw(pointer) });
        std::mem::forget(Arc::clone(&this));
    }

    /// Removes a share of the value that a raw pointer points to.
    ///
    /// # Safety
    ///
    /// The conditions are those of [`Arc::from_raw`].
    #[track_caller]
    pub unsafe fn decrement_strong_count(pointer: *const T) {
        // SAFETY: as promised by the caller.
        drop(unsafe { Arc::from_raw(pointer) });
    }
}

impl Arc<dyn Any + Send + Sync> {
    /// Returns the value as a `T`, if its type is `T`.
    ///
    /// # Errors
    ///
    /// Returns the `Arc` as the error if the value is of another type.
    pub fn downcast<T: Any + Send + Sync>(self) -> Result<Arc<T>, Arc<dyn Any + Send + Sync>> {
        let counter = self.counter;
        match self.into_shared().downcast() {
            Ok(value) => Ok(Arc::of(value, counter)),
            Err(value) => Err(Arc::of(value, counter)),
        }
    }
}

macro_rules! from_std {
    ($([$($parameter:tt)*] $from:ty => $to:ty),* $(,)?) => {
        $(impl<$($parameter)*> From<$from> for Arc<$to> {
            #[track_caller]
            fn from(value: $from) -> Arc<$to> {
                Arc::of(Shared::from(value), Counter::new())
            }
        })*
    };
}

from_std! {
    [T] T => T,
    [T: ?Sized] Box<T> => T,
    [T] Vec<T> => [T],
    [T: Clone] &[T] => [T],
    [T, const N: usize] [T; N] => [T],
    [] &str => str,
    [] String => str,
    [] &CStr => CStr,
    [] CString => CStr,
    [] &OsStr => OsStr,
    [] OsString => OsStr,
    [] &Path => Path,
    [] PathBuf => Path,
}

impl<'a, B> From<Cow<'a, B>> for Arc<B>
where
    B: ToOwned + ?Sized,
    Arc<B>: From<&'a B> + From<B::Owned>,
{
    #[track_caller]
    fn from(value: Cow<'a, B>) -> Arc<B> {
        match value {
            Cow::Borrowed(value) => Arc::from(value),
            Cow::Owned(value) => Arc::from(value),
        }
    }
}

impl From<Arc<str>> for Arc<[u8]> {
    fn from(value: Arc<str>) -> Arc<[u8]> {
        let counter = value.counter;
        Arc::of(value.into_shared().into(), counter)
    }
}

impl<T, const N: usize> TryFrom<Arc<[T]>> for Arc<[T; N]> {
    type Error = Arc<[T]>;

    fn try_from(values: Arc<[T]>) -> Result<Arc<[T; N]>, Arc<[T]>> {
        let counter = values.counter;
        match values.into_shared().try_into() {
            Ok(values) => Ok(Arc::of(values, counter)),
            Err(values) => Err(Arc::of(values, counter)),
        }
    }
}

impl<T> FromIterator<T> for Arc<[T]> {
    #[track_caller]
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Arc<[T]> {
        Arc::of(values.into_iter().collect(), Counter::new())
    }
}
