//! Atomics: exactly the values that sequential consistency allows.

mod outcomes;

use mazurka::sync::Arc;
use mazurka::sync::atomic::{
    AtomicBool, AtomicI8, AtomicI64, AtomicPtr, AtomicU8, AtomicU32, AtomicUsize, Ordering, fence,
};
use mazurka::{Checker, Verdict, thread};
use outcomes::outcomes;
use std::collections::BTreeSet;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

#[test]
fn a_load_sees_the_value_before_and_after_a_store() {
    // loom runs one execution of this program and misses the outcome 1.
    let seen = outcomes(|| {
        let x = Arc::new(AtomicU32::new(0));
        let other = thread::spawn({
            let x = Arc::clone(&x);
            move || {
                x.load(SeqCst);
                x.store(1, SeqCst);
            }
        });
        let value = x.load(SeqCst);
        other.join().unwrap();
        value
    });
    assert_eq!(seen, BTreeSet::from([0, 1]));
}

#[test]
fn store_buffering_is_forbidden() {
    let seen = outcomes(|| {
        let x = Arc::new(AtomicU32::new(0));
        let y = Arc::new(AtomicU32::new(0));
        let other = thread::spawn({
            let (x, y) = (Arc::clone(&x), Arc::clone(&y));
            move || {
                y.store(1, SeqCst);
                fence(SeqCst);
                x.load(SeqCst)
            }
        });
        x.store(1, SeqCst);
        let seen = y.load(SeqCst);
        (seen, other.join().unwrap())
    });
    assert_eq!(seen, BTreeSet::from([(0, 1), (1, 0), (1, 1)]));
}

#[test]
fn read_modify_writes_lose_nothing() {
    let report = Checker::new().check(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let x = Arc::clone(&x);
                thread::spawn(move || x.fetch_add(1, AcqRel))
            })
            .collect();
        let mut seen: Vec<_> = threads.into_iter().map(|t| t.join().unwrap()).collect();
        seen.sort();
        assert_eq!(seen, [0, 1, 2]);
        assert_eq!(x.load(Acquire), 3);
    });
    assert_eq!(report.verdict, Verdict::Verified);
    assert_eq!((report.executions, report.blocked), (6, 0));
}

#[test]
fn one_compare_exchange_of_several_succeeds() {
    let report = Checker::new().check(|| {
        let x = Arc::new(AtomicU8::new(0));
        let threads: Vec<_> = (1..=3)
            .map(|n| {
                let x = Arc::clone(&x);
                thread::spawn(move || x.compare_exchange(0, n, SeqCst, Relaxed))
            })
            .collect();
        let results: Vec<_> = threads.into_iter().map(|t| t.join().unwrap()).collect();
        assert_eq!(results.iter().filter(|r| r.is_ok()).count(), 1);
        let winner = x.load(Relaxed);
        assert!(results.iter().all(|r| *r == Ok(0) || *r == Err(winner)));
    });
    assert_eq!(report.verdict, Verdict::Verified);
    // One trace for each winner. The order in which the losers read the value makes no difference.
    assert_eq!((report.executions, report.blocked), (3, 0));
}

#[test]
fn the_operations_compute_what_those_of_std_do() {
    mazurka::model(|| {
        let x = AtomicI8::new(127);
        assert_eq!(x.fetch_add(1, Relaxed), 127);
        assert_eq!(x.fetch_sub(1, Relaxed), -128);
        assert_eq!(x.fetch_and(0x0f, Relaxed), 127);
        assert_eq!(x.fetch_or(0x30, Relaxed), 15);
        assert_eq!(x.fetch_xor(-1, Relaxed), 63);
        assert_eq!(x.fetch_nand(-1, Relaxed), -64);
        assert_eq!(x.fetch_max(100, Relaxed), 63);
        assert_eq!(x.fetch_min(-3, Relaxed), 100);
        assert_eq!(x.swap(5, Relaxed), -3);
        assert_eq!(x.fetch_update(Relaxed, Relaxed, |v| Some(v * 2)), Ok(5));
        assert_eq!(x.fetch_update(Relaxed, Relaxed, |_| None), Err(10));
        assert_eq!(x.compare_exchange_weak(10, 11, Relaxed, Relaxed), Ok(10));
        assert_eq!(x.into_inner(), 11);

        let flag = AtomicBool::new(false);
        assert!(!flag.fetch_or(true, Relaxed));
        assert!(flag.fetch_nand(true, Relaxed));
        assert!(!flag.fetch_not(Relaxed));
        assert!(flag.fetch_xor(true, Relaxed));
        assert!(!flag.fetch_and(true, Relaxed));
        assert_eq!(
            flag.compare_exchange(true, false, Relaxed, Relaxed),
            Err(false)
        );

        let wide = AtomicI64::new(i64::MIN);
        assert_eq!(wide.fetch_sub(1, Relaxed), i64::MIN);
        assert_eq!(wide.load(Relaxed), i64::MAX);
        assert_eq!(format!("{wide:?}"), i64::MAX.to_string());

        let (mut a, mut b) = (1, 2);
        let pointer = AtomicPtr::new(&raw mut a);
        assert_eq!(pointer.swap(&raw mut b, Relaxed), &raw mut a);
        assert_eq!(pointer.load(Relaxed), &raw mut b);
    });
}

#[test]
fn a_pointer_is_published_and_read_back() {
    let seen = outcomes(|| {
        let head = Arc::new(AtomicPtr::new(std::ptr::null_mut::<u32>()));
        let threads: Vec<_> = (1..=2)
            .map(|n| {
                let head = Arc::clone(&head);
                thread::spawn(move || {
                    let pointer = Box::into_raw(Box::new(n));
                    head.compare_exchange(std::ptr::null_mut(), pointer, AcqRel, Acquire)
                        .is_ok()
                })
            })
            .collect();
        let won: Vec<_> = threads.into_iter().map(|t| t.join().unwrap()).collect();
        (won[0], won[1])
    });
    assert_eq!(seen, BTreeSet::from([(true, false), (false, true)]));
}

fn panics_with(expected: &str, operation: impl Fn() + 'static) {
    let report = Checker::new().check(operation);
    assert_eq!(report.verdict, Verdict::Bug);
    assert!(
        report.errors[0].message.contains(expected),
        "{}",
        report.errors[0].message
    );
}

#[test]
fn orderings_that_make_no_sense_panic_as_in_std() {
    panics_with("no such thing as a release load", || {
        AtomicU32::new(0).load(Release);
    });
    panics_with("no such thing as an acquire-release load", || {
        AtomicU32::new(0).load(AcqRel);
    });
    panics_with("no such thing as an acquire store", || {
        AtomicU32::new(0).store(1, Acquire)
    });
    panics_with("no such thing as an acquire-release store", || {
        AtomicU32::new(0).store(1, AcqRel)
    });
    panics_with("no such thing as a release failure ordering", || {
        let _ = AtomicU32::new(0).compare_exchange(0, 1, SeqCst, Release);
    });
    panics_with("no such thing as a relaxed fence", || {
        fence(Ordering::Relaxed)
    });
}

#[test]
fn debug_output_is_no_operation() {
    let report = Checker::new().check(|| {
        let x = Arc::new(AtomicU32::new(3));
        let other = thread::spawn({
            let x = Arc::clone(&x);
            move || x.store(4, SeqCst)
        });
        let _ = format!("{x:?}");
        other.join().unwrap();
    });
    assert_eq!(report.executions, 1);
}
