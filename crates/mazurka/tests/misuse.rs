//! Misuse of Mazurka: each message says what to do.

use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::sync::{Arc, Condvar, Mutex, mpsc};
use mazurka::{Checker, FailureKind, Report, Verdict, thread};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// Returns the message of the first failure, which must be of this kind.
fn failure_message(report: &Report, kind: FailureKind) -> &str {
    assert_eq!(report.verdict, Verdict::Bug, "{report}");
    assert_eq!(report.errors[0].kind, kind, "{report}");
    &report.errors[0].message
}

/// Returns the panic message of the code.
fn panic_of<R>(code: impl FnOnce() -> R) -> String {
    let Err(payload) = catch_unwind(AssertUnwindSafe(code)) else {
        panic!("nothing was reported");
    };
    let text = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap()
}

#[test]
fn a_model_inside_a_model_is_to_be_started_outside() {
    let programs: [fn(); 3] = [
        || mazurka::model(|| ()),
        || drop(Checker::new().check(|| ())),
        || thread::spawn(|| mazurka::model(|| ())).join().unwrap(),
    ];
    for program in programs {
        let report = Checker::new().check(program);
        let message = failure_message(&report, FailureKind::Panic);
        assert!(
            message.contains("models cannot be nested; start it outside"),
            "{message}"
        );
    }
}

#[test]
fn outside_a_model_every_type_asks_for_one() {
    if cfg!(feature = "enforce") {
        // With this feature the types are real outside of models.
        return;
    }
    let uses: [fn(); 8] = [
        || assert_eq!(AtomicU32::new(0).load(SeqCst), 0),
        || *Mutex::new(0).lock().unwrap() += 1,
        || Condvar::new().notify_one(),
        || drop(mpsc::channel::<u32>()),
        || drop(thread::spawn(|| ())),
        || assert!(mazurka::choose(2) < 2),
        thread::yield_now,
        || mazurka::future::block_on(async {}),
    ];
    for (number, code) in uses.into_iter().enumerate() {
        let message = panic_of(code);
        assert!(
            message.contains("outside a model: wrap the code in mazurka::model(|| …)"),
            "{number}: {message}"
        );
    }
}

/// Two threads access an atomic variable, each while holding a lock of the standard library.
fn lock_across_an_operation() {
    let shared = Arc::new((std::sync::Mutex::new(()), AtomicU32::new(0)));
    let other = thread::spawn({
        let shared = Arc::clone(&shared);
        move || {
            let _guard = shared.0.lock();
            shared.1.fetch_add(1, SeqCst);
        }
    });
    {
        let _guard = shared.0.lock();
        shared.1.fetch_add(1, SeqCst);
    }
    other.join().unwrap();
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn a_lock_of_std_that_is_held_across_an_operation_is_a_misuse_with_a_schedule() {
    let checker = Checker::new().patience(Duration::from_millis(100));
    let report = checker.check(lock_across_an_operation);
    let message = failure_message(&report, FailureKind::Misuse);
    assert!(
        message.contains("blocked in a lock or channel that is not from mazurka"),
        "{message}"
    );
    assert!(
        message.contains("Use the types of mazurka::sync there"),
        "{message}"
    );
    let again = Checker::new().patience(Duration::from_millis(100));
    let again = again
        .replay(&report.errors[0].schedule, lock_across_an_operation)
        .unwrap();
    assert_eq!(again.errors[0].message, report.errors[0].message);
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn a_channel_of_std_between_threads_of_a_model_is_a_misuse_and_others_go_on() {
    let slow = std::thread::spawn(|| {
        Checker::new()
            .patience(Duration::from_millis(100))
            .check(|| {
                let (sender, receiver) = std::sync::mpsc::channel();
                let other = thread::spawn(move || receiver.recv().unwrap());
                let x = AtomicU32::new(0);
                x.store(1, SeqCst);
                sender.send(x.load(SeqCst)).unwrap();
                other.join().unwrap();
            })
    });
    let report = Checker::new().check(|| {
        let x = AtomicU32::new(0);
        thread::scope(|scope| {
            for _ in 0..5 {
                scope.spawn(|| x.fetch_add(1, SeqCst));
            }
        });
    });
    assert_eq!(
        (report.verdict, report.executions),
        (Verdict::Verified, 120)
    );
    failure_message(&slow.join().unwrap(), FailureKind::Misuse);
}

/// A thread that waits for the end of a thread of the operating system is not blocked forever.
#[test]
fn a_thread_of_the_system_may_be_waited_for() {
    let report = Checker::new().patience(Duration::ZERO).check(|| {
        let sum = std::thread::spawn(|| {
            (0..20_000_000_u64).fold(0, |sum, n| sum ^ std::hint::black_box(n))
        });
        drop(sum.join());
    });
    assert_eq!(report.verdict, Verdict::Verified, "{report}");
}
