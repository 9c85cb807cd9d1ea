//! The atomic boolean.

use super::order;
use super::shared::shared_operations;
use crate::sync::constructor::constructor;
use std::fmt;
use std::sync::atomic::Ordering;

/// Like `std::sync::atomic::AtomicBool`.
///
/// ```
/// use mazurka::sync::Arc;
/// use mazurka::sync::atomic::{AtomicBool, Ordering::SeqCst};
/// use mazurka::thread;
///
/// mazurka::model(|| {
///     let flag = Arc::new(AtomicBool::new(false));
///     let other = thread::spawn({
///         let flag = Arc::clone(&flag);
///         move || flag.swap(true, SeqCst)
///     });
///     assert_ne!(flag.swap(true, SeqCst), other.join().unwrap());
/// });
/// ```
pub struct AtomicBool(runtime::Atomic<bool>);

shared_operations!([] AtomicBool, bool);

impl AtomicBool {
    /// Logical "and"; returns the old value.
    #[track_caller]
    #[inline(always)]
    pub fn fetch_and(&self, value: bool, order: Ordering) -> bool {
        self.0.modify("fetch_and", order, |old| old & value)
    }

    /// Logical "nand"; returns the old value.
    #[track_caller]
    #[inline(always)]
    pub fn fetch_nand(&self, value: bool, order: Ordering) -> bool {
        self.0.modify("fetch_nand", order, |old| !(old & value))
    }

    /// Logical "or"; returns the old value.
    #[track_caller]
    #[inline(always)]
    pub fn fetch_or(&self, value: bool, order: Ordering) -> bool {
        self.0.modify("fetch_or", order, |old| old | value)
    }

    /// Logical "xor"; returns the old value.
    #[track_caller]
    #[inline(always)]
    pub fn fetch_xor(&self, value: bool, order: Ordering) -> bool {
        self.0.modify("fetch_xor", order, |old| old ^ value)
    }

    /// Logical "not"; returns the old value.
    #[track_caller]
    #[inline(always)]
    pub fn fetch_not(&self, order: Ordering) -> bool {
        self.0.modify("fetch_not", order, |old| !old)
    }
}

impl Default for AtomicBool {
    #[track_caller]
    fn default() -> AtomicBool {
        AtomicBool::new(false)
    }
}
