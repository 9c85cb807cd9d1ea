//! Shared ownership: leaks, the thread that drops the value, observed counts, raw pointers.

#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "the tests check whether the unsafe code is sound"
)]

use mazurka::alloc::{Layout, Track, alloc, dealloc};
use mazurka::cell::UnsafeCell;
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::sync::{Arc, Weak};
use mazurka::{Algorithm, Checker, FailureKind, MemoryModel, Report, Verdict, thread};
use std::collections::BTreeSet;
use std::sync::{Arc as StdArc, Mutex as StdMutex};

fn check(program: impl Fn() + 'static) -> Report {
    Checker::new().check(program)
}

/// Returns the results of all executions. Checks that all algorithms find the same results, and
/// that the optimal ones run one execution for each trace.
fn results(traces: u64, program: impl Fn() -> u64 + Copy + 'static) -> BTreeSet<u64> {
    let all = [
        Algorithm::Exhaustive,
        Algorithm::Source,
        Algorithm::Optimal,
        Algorithm::Parsimonious,
    ]
    .map(|algorithm| {
        let results = StdArc::new(StdMutex::new(BTreeSet::new()));
        let report = Checker::new().algorithm(algorithm).check({
            let results = StdArc::clone(&results);
            move || {
                let value = program();
                results.lock().unwrap().insert(value);
            }
        });
        assert_eq!(report.verdict, Verdict::Verified, "{algorithm}");
        if matches!(algorithm, Algorithm::Optimal | Algorithm::Parsimonious) {
            assert_eq!(report.executions, traces, "{algorithm}");
        }
        std::mem::take(&mut *results.lock().unwrap())
    });
    assert!(all.iter().all(|one| *one == all[0]), "{all:?}");
    all.into_iter().next().unwrap()
}

/// Records which thread drops it.
struct RecordsDrop<'a>(&'a AtomicU32);

impl Drop for RecordsDrop<'_> {
    fn drop(&mut self) {
        let is_main = thread::current().name() == Some("main");
        self.0.store(1 + u32::from(is_main), SeqCst);
    }
}

#[test]
fn a_share_that_is_forgotten_is_a_leak() {
    let report = check(|| {
        let shared = Arc::new(7);
        std::mem::forget(Arc::clone(&shared));
    });
    assert_eq!(report.errors[0].kind, FailureKind::Leak);
    let message = &report.errors[0].message;
    assert!(
        message.contains("never dropped: Arc created at"),
        "{message}"
    );
    assert!(message.contains("arcs.rs"), "{message}");
}

#[test]
fn owners_of_each_other_are_a_leak() {
    struct Node(StdMutex<Option<Arc<Node>>>);
    let report = check(|| {
        let node = Arc::new(Node(StdMutex::new(None)));
        *node.0.lock().unwrap() = Some(Arc::clone(&node));
    });
    assert_eq!(report.errors[0].kind, FailureKind::Leak);
}

#[test]
fn leaks_can_be_permitted() {
    let report = Checker::new()
        .leaks_fail(false)
        .check(|| std::mem::forget(Arc::new(7)));
    assert_eq!(report.verdict, Verdict::Verified);
}

#[test]
fn a_deadlock_is_no_leak() {
    let report = Checker::new().waiting_after_main(true).check(|| {
        let shared = Arc::new(7);
        thread::spawn(move || {
            thread::park();
            drop(shared);
        });
    });
    assert_eq!(report.verdict, Verdict::Verified);
}

#[test]
fn shares_without_a_destructor_make_no_events() {
    let report = check(|| {
        let shared = Arc::new(7);
        for _ in 0..3 {
            let shared = Arc::clone(&shared);
            thread::spawn(move || assert_eq!(*shared, 7));
        }
    });
    assert_eq!(report.executions, 1);
    assert_eq!(report.events, 0);
}

#[test]
fn either_thread_may_drop_the_value() {
    // Two drops in either order.
    let dropped = results(2, || {
        let who = AtomicU32::new(0);
        thread::scope(|scope| {
            let shared = Arc::new(RecordsDrop(&who));
            let other = Arc::clone(&shared);
            scope.spawn(move || drop(other));
            drop(shared);
        });
        u64::from(who.load(SeqCst))
    });
    assert_eq!(dropped, BTreeSet::from([1, 2]));
}

#[test]
fn the_thread_that_drops_the_value_comes_after_the_others() {
    struct Cell(UnsafeCell<u32>);
    // SAFETY: the test checks that there is no race.
    unsafe impl Sync for Cell {}
    impl Drop for Cell {
        fn drop(&mut self) {
            self.0.with_mut(|value| unsafe { *value = 0 });
        }
    }
    let report = check(|| {
        let shared = Arc::new(Cell(UnsafeCell::new(1)));
        let other = Arc::clone(&shared);
        thread::spawn(move || assert_eq!(other.0.with(|value| unsafe { *value }), 1));
        assert_eq!(shared.0.with(|value| unsafe { *value }), 1);
    });
    assert_eq!(report.verdict, Verdict::Verified);
}

#[test]
fn a_count_of_shares_may_have_any_possible_value() {
    // 1: the other share is dropped; 2: it exists; 3: it is cloned.
    let counts = results(4, || {
        let shared = Arc::new(());
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            let third = Arc::clone(&other);
            drop(other);
            drop(third);
        });
        let count = Arc::strong_count(&shared);
        thread.join().unwrap();
        count as u64
    });
    assert_eq!(counts, BTreeSet::from([1, 2, 3]));
}

#[test]
fn only_the_last_owner_gets_the_value() {
    let got = results(2, || {
        let shared = Arc::new(1u64);
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || Arc::into_inner(other).unwrap_or(0));
        let value = Arc::into_inner(shared).unwrap_or(0);
        let other = thread.join().unwrap();
        assert_eq!(value + other, 1, "exactly one of them");
        value
    });
    assert_eq!(got, BTreeSet::from([0, 1]));
}

#[test]
fn a_try_to_unwrap_may_come_too_early() {
    let got = results(2, || {
        let shared = Arc::new(1u64);
        let other = Arc::clone(&shared);
        thread::spawn(move || drop(other));
        Arc::try_unwrap(shared).unwrap_or(0)
    });
    assert_eq!(got, BTreeSet::from([0, 1]));
}

#[test]
fn get_mut_orders_what_the_others_did() {
    struct Cell(UnsafeCell<u32>);
    // SAFETY: the test checks that there is no race.
    unsafe impl Sync for Cell {}
    let report = check(|| {
        let mut shared = Arc::new(Cell(UnsafeCell::new(1)));
        let other = Arc::clone(&shared);
        thread::spawn(move || {
            other.0.with_mut(|value| unsafe { *value = 2 });
        });
        if let Some(cell) = Arc::get_mut(&mut shared) {
            assert_eq!(*cell.0.get_mut(), 2);
        }
    });
    assert_eq!(report.verdict, Verdict::Verified);
    assert_eq!(report.executions, 2);
}

#[test]
fn a_weak_reference_finds_the_value_or_not() {
    let found = results(2, || {
        let shared = Arc::new(1u64);
        let weak = Arc::downgrade(&shared);
        let thread = thread::spawn(move || weak.upgrade().map_or(0, |value| *value));
        drop(shared);
        thread.join().unwrap()
    });
    assert_eq!(found, BTreeSet::from([0, 1]));
}

#[test]
fn a_weak_reference_of_nothing_needs_no_model() {
    static NONE: Weak<u32> = Weak::new();
    assert!(NONE.upgrade().is_none());
}

#[test]
fn raw_pointers_keep_shares() {
    let report = check(|| {
        let shared = Arc::new(7);
        let pointer = Arc::into_raw(Arc::clone(&shared));
        unsafe { Arc::increment_strong_count(pointer) };
        assert_eq!(Arc::strong_count(&shared), 3);
        unsafe { Arc::decrement_strong_count(pointer) };
        let again = unsafe { Arc::from_raw(pointer) };
        assert!(Arc::ptr_eq(&shared, &again));
    });
    assert_eq!(report.verdict, Verdict::Verified);
    let leaks = check(|| {
        Arc::into_raw(Arc::new(7));
    });
    assert_eq!(leaks.errors[0].kind, FailureKind::Leak);
}

#[test]
fn a_value_may_contain_a_weak_reference_to_itself() {
    struct Node(Weak<Node>);
    let report = check(|| {
        let node = Arc::new_cyclic(|weak| Node(weak.clone()));
        assert!(Arc::ptr_eq(&node, &node.0.upgrade().unwrap()));
        assert_eq!(Arc::weak_count(&node), 1);
    });
    assert_eq!(report.verdict, Verdict::Verified);
}

#[test]
fn unsized_values_are_shared() {
    let report = check(|| {
        let words: Arc<[&str]> = ["a", "b"].into_iter().collect();
        assert_eq!(words.len(), 2);
        let text: Arc<str> = Arc::from("text");
        assert_eq!(&*text, "text");
        let show: std::sync::Arc<dyn std::fmt::Display + Send + Sync> = std::sync::Arc::new(7);
        assert_eq!(Arc::from_std(show).to_string(), "7");
    });
    assert_eq!(report.verdict, Verdict::Verified);
}

#[test]
fn make_mut_clones_what_is_shared() {
    let report = check(|| {
        let mut one = Arc::new(1);
        let other = Arc::clone(&one);
        *Arc::make_mut(&mut one) = 2;
        assert_eq!((*one, *other), (2, 1));
        assert_eq!(Arc::unwrap_or_clone(one), 2);
    });
    assert_eq!(report.verdict, Verdict::Verified);
}

#[test]
fn memory_that_is_freed_twice_is_misuse() {
    let layout = Layout::new::<u64>();
    let report = check(move || unsafe {
        let memory = alloc(layout);
        dealloc(memory, layout);
        dealloc(memory, layout);
    });
    assert_eq!(report.errors[0].kind, FailureKind::Misuse);
}

#[test]
fn a_tracked_value_has_to_be_dropped() {
    let report = check(|| std::mem::forget(Track::new(7)));
    assert_eq!(report.errors[0].kind, FailureKind::Leak);
    let report = check(|| assert_eq!(Track::new(7).into_inner(), 7));
    assert_eq!(report.verdict, Verdict::Verified);
}

#[test]
fn a_weak_reference_survives_as_a_raw_pointer() {
    let report = check(|| {
        let created = Arc::new(AtomicU32::new(3));
        let raw = Weak::into_raw(Arc::downgrade(&created)).expose_provenance();
        assert_eq!(Arc::weak_count(&created), 1);
        thread::spawn(move || {
            let weak =
                unsafe { Weak::from_raw(std::ptr::with_exposed_provenance::<AtomicU32>(raw)) };
            weak.upgrade().map(|value| value.fetch_add(1, SeqCst));
        });
        assert!(created.load(SeqCst) >= 3);
        let nothing = unsafe { Weak::from_raw(Weak::<u32>::new().into_raw()) };
        assert!(nothing.upgrade().is_none());
    });
    assert_eq!(report.verdict, Verdict::Verified, "{report}");
    assert!(report.executions > 2, "{report}");
}

/// The reference leaves the constructor, so another thread may look for the value too early.
#[test]
fn a_cyclic_value_is_not_found_before_it_exists() {
    struct Number(UnsafeCell<u32>);
    unsafe impl Sync for Number {}
    let program = || {
        let found = Arc::new(AtomicU32::new(0));
        let mut searching = None;
        let value = Arc::new_cyclic(|me: &Weak<Number>| {
            assert_eq!((me.strong_count(), me.upgrade().is_none()), (0, true));
            let (me, found) = (me.clone(), Arc::clone(&found));
            searching = Some(thread::spawn(move || {
                if let Some(value) = me.upgrade() {
                    // Ordered after the write below.
                    let value = value.0.with(|value| unsafe { *value });
                    found.store(value, SeqCst);
                }
            }));
            let value = Number(UnsafeCell::new(0));
            value.0.with_mut(|value| unsafe { *value = 5 });
            value
        });
        searching.unwrap().join().unwrap();
        assert_eq!(Arc::strong_count(&value), 1);
        found.load(SeqCst)
    };
    for memory in [MemoryModel::Sc, MemoryModel::Rc11] {
        let seen = StdArc::new(StdMutex::new(BTreeSet::new()));
        let outcomes = StdArc::clone(&seen);
        let report = Checker::new().memory(memory).check(move || {
            let outcome = program();
            outcomes.lock().unwrap().insert(outcome);
        });
        assert_eq!(report.verdict, Verdict::Verified, "{report}");
        assert_eq!(*seen.lock().unwrap(), BTreeSet::from([0, 5]), "{report}");
    }
}

#[test]
fn make_mut_takes_the_value_from_weak_references() {
    struct Unique(u32);
    impl Clone for Unique {
        fn clone(&self) -> Unique {
            panic!("cloned")
        }
    }
    let report = check(|| {
        let mut value = Arc::new(Unique(0));
        let weak = Arc::downgrade(&value);
        Arc::make_mut(&mut value).0 += 1;
        assert!(weak.upgrade().is_none());
        Arc::make_mut(&mut value).0 += 1;
        assert_eq!((value.0, Arc::strong_count(&value)), (2, 1));
    });
    assert_eq!(report.verdict, Verdict::Verified, "{report}");
    let report = check(|| {
        let value = Arc::new(Unique(0));
        let mut other = Arc::clone(&value);
        let dropping = thread::spawn(move || drop(value));
        Arc::make_mut(&mut other).0 += 1;
        dropping.join().unwrap();
    });
    assert_eq!(report.errors[0].message, "cloned");
}
