//! Accesses to plain memory that last as long as a pointer exists.

#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "the tests check whether the unsafe code is sound"
)]

use mazurka::cell::UnsafeCell;
use mazurka::sync::Arc;
use mazurka::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering::SeqCst};
use mazurka::{Checker, FailureKind, Report, Verdict, thread};

struct Shared(UnsafeCell<u32>);

// SAFETY: the tests check that there is no race.
unsafe impl Sync for Shared {}

fn check(program: impl Fn() + 'static) -> Report {
    Checker::new().check(program)
}

#[test]
fn an_access_lasts_as_long_as_its_pointer() {
    // The write is ordered after the beginning and before the end of the read, so it occurs during
    // the read.
    let report = check(|| {
        let shared = Arc::new((Shared(UnsafeCell::new(0)), AtomicU32::new(0)));
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                if shared.1.load(SeqCst) == 1 {
                    shared.0.0.with_mut(|value| unsafe { *value = 1 });
                }
                shared.1.store(2, SeqCst);
            }
        });
        let pointer = shared.0.0.read_pointer();
        shared.1.store(1, SeqCst);
        let is_over = shared.1.load(SeqCst) == 2;
        drop(pointer);
        let _ = is_over;
        other.join().unwrap();
    });
    assert_eq!(report.errors[0].kind, FailureKind::DataRace);
}

#[test]
fn an_access_whose_end_nothing_orders_is_a_race() {
    let report = check(|| {
        let shared = Arc::new((Shared(UnsafeCell::new(0)), AtomicU32::new(0)));
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                if shared.1.load(SeqCst) == 1 {
                    shared.0.0.with_mut(|value| unsafe { *value = 1 });
                }
            }
        });
        shared.0.0.with(|value| {
            shared.1.store(1, SeqCst);
            unsafe { *value }
        });
        other.join().unwrap();
    });
    assert_eq!(report.errors[0].kind, FailureKind::DataRace);
}

#[test]
fn a_cell_is_not_written_while_the_same_thread_reads_it() {
    let report = check(|| {
        let cell = UnsafeCell::new(0);
        cell.with(|_| cell.with_mut(|value| unsafe { *value = 1 }));
    });
    assert_eq!(report.errors[0].kind, FailureKind::DataRace);
}

#[test]
fn reads_that_last_and_overlap_are_no_race() {
    let report = check(|| {
        let shared = Arc::new(Shared(UnsafeCell::new(7)));
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                let pointer = shared.0.read_pointer();
                thread::current().unpark();
                pointer.with(|value| unsafe { *value })
            }
        });
        assert_eq!(shared.0.with(|value| unsafe { *value }), 7);
        assert_eq!(other.join().unwrap(), 7);
    });
    assert_eq!(report.verdict, Verdict::Verified);
}

#[test]
fn zeroed_memory_is_null_and_zero() {
    let report = Checker::new().check(|| {
        // SAFETY: null and zero are all zeros. crossbeam's queues create blocks in the same way.
        let shared: Arc<(AtomicPtr<u32>, AtomicUsize, AtomicBool)> =
            Arc::new(unsafe { std::mem::zeroed() });
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                let old = shared.0.swap(&raw const shared.2 as *mut u32, SeqCst);
                assert!(old.is_null() && shared.1.fetch_add(1, SeqCst) == 0);
            }
        });
        let count = shared.1.load(SeqCst);
        assert!(count == 0 || !shared.0.load(SeqCst).is_null());
        assert!(!shared.2.swap(true, SeqCst));
        other.join().unwrap();
    });
    assert_eq!(report.verdict, Verdict::Verified, "{report}");
    // `count` is 0 or 1.
    assert_eq!(report.executions, 2, "{report}");
}
