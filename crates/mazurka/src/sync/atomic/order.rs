//! Rejects orderings that are invalid for an operation, with the messages of `std`.

use std::sync::atomic::Ordering;

#[track_caller]
#[inline(always)]
pub(super) fn check_load(order: Ordering) {
    match order {
        Ordering::Release => panic!("there is no such thing as a release load"),
        Ordering::AcqRel => panic!("there is no such thing as an acquire-release load"),
        _ => {}
    }
}

#[track_caller]
#[inline(always)]
pub(super) fn check_store(order: Ordering) {
    match order {
        Ordering::Acquire => panic!("there is no such thing as an acquire store"),
        Ordering::AcqRel => panic!("there is no such thing as an acquire-release store"),
        _ => {}
    }
}

#[track_caller]
#[inline(always)]
pub(super) fn check_failure(order: Ordering) {
    match order {
        Ordering::Release => panic!("there is no such thing as a release failure ordering"),
        Ordering::AcqRel => panic!("there is no such thing as an acquire-release failure ordering"),
        _ => {}
    }
}

#[track_caller]
#[inline(always)]
pub(super) fn check_fence(order: Ordering) {
    if order == Ordering::Relaxed {
        panic!("there is no such thing as a relaxed fence");
    }
}

/// Returns the strongest failure ordering for a success ordering.
pub(super) fn of_failure(success: Ordering) -> Ordering {
    match success {
        Ordering::Relaxed | Ordering::Release => Ordering::Relaxed,
        Ordering::Acquire | Ordering::AcqRel => Ordering::Acquire,
        _ => Ordering::SeqCst,
    }
}
