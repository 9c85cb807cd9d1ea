//! The atomic integers.

use super::order;
use super::shared::shared_operations;
use crate::sync::constructor::constructor;
use std::fmt;
use std::sync::atomic::Ordering;

macro_rules! atomic_integer {
    ($Atomic:ident, $Value:ident) => {
        #[doc = concat!("As `std::sync::atomic::", stringify!($Atomic), "`.")]
        ///
        /// ```
        #[doc = concat!("use mazurka::sync::atomic::{", stringify!($Atomic), ", Ordering::SeqCst};")]
        /// use mazurka::sync::Arc;
        /// use mazurka::thread;
        ///
        /// mazurka::model(|| {
        #[doc = concat!("    let sum = Arc::new(", stringify!($Atomic), "::new(0));")]
        ///     let other = thread::spawn({
        ///         let sum = Arc::clone(&sum);
        ///         move || sum.fetch_add(1, SeqCst)
        ///     });
        ///     sum.fetch_add(2, SeqCst);
        ///     other.join().unwrap();
        ///     assert_eq!(sum.load(SeqCst), 3);
        /// });
        /// ```
        pub struct $Atomic(runtime::Atomic<$Value>);

        shared_operations!([] $Atomic, $Value);

        impl $Atomic {
            /// Adds, wrapping around, and returns the old value.
            #[track_caller]
            #[inline(always)]
            pub fn fetch_add(&self, value: $Value, order: Ordering) -> $Value {
                self.0.modify("fetch_add", order, |old| old.wrapping_add(value))
            }

            /// Subtracts, wrapping around, and returns the old value.
            #[track_caller]
            #[inline(always)]
            pub fn fetch_sub(&self, value: $Value, order: Ordering) -> $Value {
                self.0.modify("fetch_sub", order, |old| old.wrapping_sub(value))
            }

            /// Bitwise "and"; returns the old value.
            #[track_caller]
            #[inline(always)]
            pub fn fetch_and(&self, value: $Value, order: Ordering) -> $Value {
                self.0.modify("fetch_and", order, |old| old & value)
            }

            /// Bitwise "nand"; returns the old value.
            #[track_caller]
            #[inline(always)]
            pub fn fetch_nand(&self, value: $Value, order: Ordering) -> $Value {
                self.0.modify("fetch_nand", order, |old| !(old & value))
            }

            /// Bitwise "or"; returns the old value.
            #[track_caller]
            #[inline(always)]
            pub fn fetch_or(&self, value: $Value, order: Ordering) -> $Value {
                self.0.modify("fetch_or", order, |old| old | value)
            }

            /// Bitwise "xor"; returns the old value.
            #[track_caller]
            #[inline(always)]
            pub fn fetch_xor(&self, value: $Value, order: Ordering) -> $Value {
                self.0.modify("fetch_xor", order, |old| old ^ value)
            }

            /// Stores the maximum of the old value and `value`; returns the old value.
            #[track_caller]
            #[inline(always)]
            pub fn fetch_max(&self, value: $Value, order: Ordering) -> $Value {
                self.0.modify("fetch_max", order, |old| old.max(value))
            }

            /// Stores the minimum of the old value and `value`; returns the old value.
            #[track_caller]
            #[inline(always)]
            pub fn fetch_min(&self, value: $Value, order: Ordering) -> $Value {
                self.0.modify("fetch_min", order, |old| old.min(value))
            }
        }

        impl Default for $Atomic {
            #[track_caller]
            fn default() -> $Atomic {
                $Atomic::new(0)
            }
        }
    };
}

atomic_integer!(AtomicI8, i8);
atomic_integer!(AtomicI16, i16);
atomic_integer!(AtomicI32, i32);
atomic_integer!(AtomicI64, i64);
atomic_integer!(AtomicIsize, isize);
atomic_integer!(AtomicU8, u8);
atomic_integer!(AtomicU16, u16);
atomic_integer!(AtomicU32, u32);
atomic_integer!(AtomicU64, u64);
atomic_integer!(AtomicUsize, usize);
