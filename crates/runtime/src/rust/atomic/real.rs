//! Atomic variables outside of models: hardware atomics or, for `u128`, accesses under a lock. They
//! are sequentially consistent, whatever orderings the program requests.

use super::{Atomic, Value};
use explore::OpKind;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Mutex, PoisonError};

/// The processor's atomic operations on values of this type.
pub trait Real: Sized {
    /// Reads the value.
    ///
    /// # Safety
    ///
    /// For this and the following functions, the place must be valid, and all accesses to it must
    /// be atomic.
    unsafe fn load(place: *mut Self) -> Self;

    /// Writes a value.
    ///
    /// # Safety
    ///
    /// The conditions are those of [`Real::load`].
    unsafe fn store(place: *mut Self, value: Self);

    /// Writes `new` if the value is `current`.
    ///
    /// # Errors
    ///
    /// Returns the value found as the error if it is not `current`.
    ///
    /// # Safety
    ///
    /// The conditions are those of [`Real::load`].
    unsafe fn exchange(place: *mut Self, current: Self, new: Self) -> Result<Self, Self>;
}

macro_rules! real {
    ($([$($parameter:ident)?] $Value:ty, $Atomic:ty;)*) => {
        $(impl$(<$parameter>)? Real for $Value {
            #[inline(always)]
            unsafe fn load(place: *mut Self) -> Self {
                // SAFETY: as promised by the caller.
                unsafe { <$Atomic>::from_ptr(place) }.load(SeqCst)
            }

            #[inline(always)]
            unsafe fn store(place: *mut Self, value: Self) {
                // SAFETY: as promised by the caller.
                unsafe { <$Atomic>::from_ptr(place) }.store(value, SeqCst);
            }

            #[inline(always)]
            unsafe fn exchange(place: *mut Self, current: Self, new: Self) -> Result<Self, Self> {
                // SAFETY: as promised by the caller.
                unsafe { <$Atomic>::from_ptr(place) }.compare_exchange(current, new, SeqCst, SeqCst)
            }
        })*
    };
}

real! {
    [] bool, std::sync::atomic::AtomicBool;
    [] u8, std::sync::atomic::AtomicU8;
    [] u16, std::sync::atomic::AtomicU16;
    [] u32, std::sync::atomic::AtomicU32;
    [] u64, std::sync::atomic::AtomicU64;
    [] usize, std::sync::atomic::AtomicUsize;
    [] i8, std::sync::atomic::AtomicI8;
    [] i16, std::sync::atomic::AtomicI16;
    [] i32, std::sync::atomic::AtomicI32;
    [] i64, std::sync::atomic::AtomicI64;
    [] isize, std::sync::atomic::AtomicIsize;
    [T] *mut T, std::sync::atomic::AtomicPtr<T>;
}

/// Protects accesses to values that are too large for the atomics of `std`.
static LARGE: Mutex<()> = Mutex::new(());

impl Real for u128 {
    unsafe fn load(place: *mut u128) -> u128 {
        let _only = LARGE.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: as promised by the caller. All accesses take the lock.
        unsafe { place.read() }
    }

    unsafe fn store(place: *mut u128, value: u128) {
        let _only = LARGE.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: as in `load`.
        unsafe { place.write(value) }
    }

    unsafe fn exchange(place: *mut u128, current: u128, new: u128) -> Result<u128, u128> {
        let _only = LARGE.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: as in `load`.
        let found = unsafe { place.read() };
        if found != current {
            return Err(found);
        }
        // SAFETY: as in `load`.
        unsafe { place.write(new) };
        Ok(found)
    }
}

impl<V: Value> Atomic<V> {
    /// Returns the value without an event.
    #[inline(always)]
    pub(super) fn read_outside(&self) -> V {
        // SAFETY: the place is that of the variable. Outside of models all accesses use these
        // functions, except for those of an exclusive owner.
        unsafe { V::load(self.value.get()) }
    }

    /// Writes the value without an event.
    pub(crate) fn write_outside(&self, value: V) {
        // SAFETY: as in `read_outside`.
        unsafe { V::store(self.value.get(), value) };
    }

    #[inline(always)]
    pub(super) fn load_outside(&self) -> V {
        enforce::begin(OpKind::Load);
        let value = self.read_outside();
        enforce::end();
        value
    }

    #[inline(always)]
    pub(super) fn store_outside(&self, value: V) {
        enforce::begin(OpKind::Store);
        self.write_outside(value);
        enforce::end();
    }

    #[inline(always)]
    pub(super) fn modify_outside(&self, change: impl Fn(V) -> V) -> V {
        enforce::begin(OpKind::ReadModifyWrite);
        let mut old = self.read_outside();
        // SAFETY: as in `read_outside`.
        while let Err(found) = unsafe { V::exchange(self.value.get(), old, change(old)) } {
            old = found;
        }
        enforce::end();
        old
    }

    #[inline(always)]
    pub(super) fn exchange_outside(&self, current: V, new: V) -> Result<V, V> {
        enforce::begin(OpKind::CompareExchange);
        // SAFETY: as in `read_outside`.
        let result = unsafe { V::exchange(self.value.get(), current, new) };
        enforce::end();
        result
    }
}
