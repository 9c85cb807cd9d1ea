//! As `std::sync::atomic`. Memory is sequentially consistent; the orderings decide what is a data race.

mod bool;
mod integer;
mod order;
mod pointer;
mod shared;

pub use self::bool::AtomicBool;
pub use integer::{
    AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU8, AtomicU16, AtomicU32,
    AtomicU64, AtomicUsize,
};
pub use pointer::AtomicPtr;
pub use std::sync::atomic::Ordering;

/// As `std::sync::atomic::fence`: an event that orders plain memory, not the interleavings.
///
/// # Panics
///
/// If the order is relaxed.
#[track_caller]
pub fn fence(order: Ordering) {
    order::check_fence(order);
    runtime::fence(order);
}

/// As `std::sync::atomic::compiler_fence`: orders a thread with itself only, which it is anyway.
///
/// # Panics
///
/// If the order is relaxed.
#[track_caller]
pub fn compiler_fence(order: Ordering) {
    order::check_fence(order);
}

/// As `std::sync::atomic::spin_loop_hint`.
#[deprecated(note = "use `mazurka::hint::spin_loop`")]
#[track_caller]
pub fn spin_loop_hint() {
    crate::hint::spin_loop();
}
