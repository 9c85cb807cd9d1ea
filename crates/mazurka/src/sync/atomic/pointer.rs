//! The atomic pointer.

use super::order;
use super::shared::shared_operations;
use crate::sync::constructor::constructor;
use std::fmt;
use std::sync::atomic::Ordering;

/// Like `std::sync::atomic::AtomicPtr`. With the feature `allocator`, memory allocated in a model
/// has the same address in all executions, so compare-exchanges of pointers are repeatable.
///
/// ```
/// use mazurka::sync::Arc;
/// use mazurka::sync::atomic::{AtomicPtr, Ordering::{Acquire, Release}};
/// use mazurka::thread;
///
/// mazurka::model(|| {
///     let slot = Arc::new(AtomicPtr::new(std::ptr::null_mut()));
///     let other = thread::spawn({
///         let slot = Arc::clone(&slot);
///         move || slot.store(Box::into_raw(Box::new(7)), Release)
///     });
///     let seen = slot.load(Acquire);
///     assert!(seen.is_null() || unsafe { *seen } == 7);
///     other.join().unwrap();
///     drop(unsafe { Box::from_raw(slot.load(Acquire)) });
/// });
/// ```
pub struct AtomicPtr<T>(runtime::Atomic<*mut T>);

shared_operations!([T] AtomicPtr<T>, *mut T);

/// Defines operations on the address. Each returns the old pointer.
macro_rules! address_operations {
    ($($(#[$attribute:meta])* $name:ident($value:ident) |$old:ident| $new:expr;)*) => {
        impl<T> AtomicPtr<T> {
            $(
                $(#[$attribute])*
                #[track_caller]
                #[inline(always)]
                pub fn $name(&self, $value: usize, order: Ordering) -> *mut T {
                    self.0.modify(stringify!($name), order, |$old| $new)
                }
            )*
        }
    };
}

address_operations! {
    /// Adds `value` elements, like `wrapping_add`; returns the old pointer.
    fetch_ptr_add(value) |old| old.wrapping_add(value);
    /// Subtracts `value` elements, like `wrapping_sub`; returns the old pointer.
    fetch_ptr_sub(value) |old| old.wrapping_sub(value);
    /// Adds `value` bytes; returns the old pointer.
    fetch_byte_add(value) |old| old.wrapping_byte_add(value);
    /// Subtracts `value` bytes; returns the old pointer.
    fetch_byte_sub(value) |old| old.wrapping_byte_sub(value);
    /// Bitwise "or" with the address; returns the old pointer.
    fetch_or(value) |old| old.map_addr(|address| address | value);
    /// Bitwise "and" with the address; returns the old pointer.
    fetch_and(value) |old| old.map_addr(|address| address & value);
    /// Bitwise "xor" with the address; returns the old pointer.
    fetch_xor(value) |old| old.map_addr(|address| address ^ value);
}

impl<T> Default for AtomicPtr<T> {
    #[track_caller]
    fn default() -> AtomicPtr<T> {
        AtomicPtr::new(std::ptr::null_mut())
    }
}

impl<T> fmt::Pointer for AtomicPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&self.0.peek(), f)
    }
}
