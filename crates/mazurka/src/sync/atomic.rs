//! Like `std::sync::atomic`. A load may return an old value if the orderings allow it
//! ([`Checker::memory`](crate::Checker::memory)).

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

/// Like `std::sync::atomic::fence`. Under sequential consistency, a fence adds no interleavings,
/// but affects which accesses are data races.
///
/// # Panics
///
/// Panics if the order is `Relaxed`.
#[track_caller]
pub fn fence(order: Ordering) {
    order::check_fence(order);
    runtime::fence(order);
}

/// Like `std::sync::atomic::compiler_fence`. Has no effect, because the events of one thread are
/// always ordered.
///
/// # Panics
///
/// Panics if the order is `Relaxed`.
#[track_caller]
pub fn compiler_fence(order: Ordering) {
    order::check_fence(order);
}

/// Like `std::sync::atomic::spin_loop_hint`.
#[deprecated(note = "use `mazurka::hint::spin_loop`")]
#[track_caller]
pub fn spin_loop_hint() {
    crate::hint::spin_loop();
}
