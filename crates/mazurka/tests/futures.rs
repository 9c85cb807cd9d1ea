//! Futures and their wakers.

use mazurka::future::{AtomicWaker, block_on};
use mazurka::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use mazurka::sync::{Arc, Notify};
use mazurka::{Algorithm, Checker, FailureKind, Report, Verdict, thread};
use std::future::poll_fn;
use std::task::Poll;

fn check(program: impl Fn() + 'static) -> Report {
    Checker::new().check(program)
}

/// Executions of the optimal algorithms and distinct results of brute force must be what is expected.
fn traces(expected: u64, program: impl Fn() + Copy + 'static) {
    for algorithm in [Algorithm::Optimal, Algorithm::Parsimonious] {
        let report = Checker::new().algorithm(algorithm).check(program);
        assert_eq!(report.verdict, Verdict::Verified, "{algorithm}");
        assert_eq!(report.executions, expected, "{algorithm}");
    }
    let all = Checker::new()
        .algorithm(Algorithm::Exhaustive)
        .check(program);
    assert_eq!(all.verdict, Verdict::Verified);
    assert!(all.executions >= expected);
}

fn waits_for_flag(registers_first: bool) {
    let shared = Arc::new((AtomicBool::new(false), AtomicWaker::new()));
    let other = thread::spawn({
        let shared = Arc::clone(&shared);
        move || {
            shared.0.store(true, SeqCst);
            shared.1.wake();
        }
    });
    block_on(poll_fn(|context| {
        if registers_first {
            shared.1.register_by_ref(context.waker());
        }
        if shared.0.load(SeqCst) {
            return Poll::Ready(());
        }
        if !registers_first {
            shared.1.register_by_ref(context.waker());
        }
        Poll::Pending
    }));
    other.join().unwrap();
}

#[test]
fn who_registers_before_it_looks_is_woken() {
    assert_eq!(check(|| waits_for_flag(true)).verdict, Verdict::Verified);
}

#[test]
fn who_looks_before_it_registers_may_sleep_for_ever() {
    let report = check(|| waits_for_flag(false));
    assert_eq!(report.errors[0].kind, FailureKind::Deadlock);
    assert!(
        report.errors[0].message.contains("Notify@"),
        "{}",
        report.errors[0].message
    );
}

#[test]
fn a_future_that_nobody_wakes_is_a_deadlock() {
    let report = check(|| block_on(std::future::pending::<()>()));
    assert_eq!(report.errors[0].kind, FailureKind::Deadlock);
}

#[test]
fn a_future_that_is_ready_is_not_waited_for() {
    let report = check(|| assert_eq!(block_on(async { 7 }), 7));
    assert_eq!(report.verdict, Verdict::Verified);
    assert_eq!(report.events, 0);
}

#[test]
fn wakes_before_the_wait_are_one() {
    let report = check(|| {
        let polls = std::cell::Cell::new(0);
        block_on(poll_fn(|context| {
            polls.set(polls.get() + 1);
            if polls.get() == 3 {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            context.waker().wake_by_ref();
            Poll::Pending
        }));
        assert_eq!(polls.get(), 3);
    });
    assert_eq!(report.verdict, Verdict::Verified);
}

#[test]
fn a_token_orders_what_was_done_before() {
    // notify before or after the request of the wait
    traces(2, || {
        let shared = Arc::new((AtomicU32::new(0), Notify::new()));
        thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                shared.0.store(1, SeqCst);
                shared.1.notify();
            }
        });
        shared.1.wait();
        assert_eq!(shared.0.load(SeqCst), 1);
    });
}

#[test]
fn two_tokens_may_be_one() {
    let program = || {
        let ready = Arc::new(Notify::new());
        for _ in 0..2 {
            let ready = Arc::clone(&ready);
            thread::spawn(move || ready.notify());
        }
        ready.wait();
        ready.wait();
    };
    let report = check(program);
    assert_eq!(report.errors[0].kind, FailureKind::Deadlock);
}

#[test]
fn a_second_waiter_is_refused() {
    let report = Checker::new().keep_going(true).check(|| {
        let ready = Arc::new(Notify::new());
        let other = thread::spawn({
            let ready = Arc::clone(&ready);
            move || ready.wait()
        });
        ready.notify();
        ready.notify();
        ready.wait();
        other.join().unwrap();
    });
    let is_refusal = |message: &str| message.contains("only a single thread may wait");
    assert!(report.errors.iter().any(|error| is_refusal(&error.message)));
}
