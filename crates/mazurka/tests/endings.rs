//! Models that end the process, and models that never end. Both fail with a schedule.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

use mazurka::sync::Arc;
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::{Checker, Failure, FailureKind, Verdict, thread};
use std::hint::black_box;
use std::sync::atomic::AtomicU32 as StdAtomicU32;
use std::time::Duration;

/// Short for tests, but longer than any loop that ends.
const PATIENCE: Duration = Duration::from_millis(400);

fn failure(model: impl Fn() + 'static) -> Failure {
    let report = Checker::new().patience(PATIENCE).extra(0).try_check(model);
    let mut report = report.expect("the model can be checked");
    assert_eq!(report.verdict, Verdict::Bug, "{report}");
    assert_eq!(report.errors.len(), 1, "{report}");
    report.errors.remove(0)
}

/// Starts a thread that stores a value. The main thread runs `main` if it loads that value.
fn after_store(main: fn()) -> impl Fn() + 'static {
    move || {
        let shared = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&shared);
        let other = thread::spawn(move || other.store(1, SeqCst));
        if shared.load(SeqCst) == 1 {
            main();
        }
        other.join().unwrap();
    }
}

/// Runs a test that ends its process in a child process. Returns the output and the status.
fn in_a_process(test: &str) -> (String, Option<i32>) {
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    (text, output.status.code())
}

const CHILD: &str = "MAZURKA_TEST_ENDS_THE_PROCESS";

#[test]
fn a_model_that_ends_the_process_fails() {
    if std::env::var_os(CHILD).is_some() {
        mazurka::model(after_store(|| std::process::exit(0)));
    }
    let (text, status) = in_a_process("a_model_that_ends_the_process_fails");
    assert_eq!(status, Some(101), "{text}");
    assert!(text.contains("main calls std::process::exit"), "{text}");
    assert!(text.contains("Execution 2 shows it"), "{text}");
    assert!(text.contains("test result: FAILED"), "{text}");
}

#[test]
fn other_threads_of_a_model_may_not_end_the_process_either() {
    if std::env::var_os(CHILD).is_some() {
        mazurka::model(|| thread::spawn(|| std::process::exit(0)).join().unwrap());
    }
    let (text, status) = in_a_process("other_threads_of_a_model_may_not_end_the_process_either");
    assert_eq!(status, Some(101), "{text}");
    assert!(text.contains("T0 calls std::process::exit"), "{text}");
}

#[test]
fn a_process_ends_outside_of_models() {
    if std::env::var_os(CHILD).is_some() {
        mazurka::model(|| {
            black_box(AtomicU32::new(0).load(SeqCst));
        });
        std::process::exit(7);
    }
    let (text, status) = in_a_process("a_process_ends_outside_of_models");
    assert_eq!(status, Some(7), "{text}");
}

#[test]
#[allow(clippy::empty_loop, reason = "the test needs an endless loop")]
fn loops_without_an_operation_fail() {
    static FLAG: StdAtomicU32 = StdAtomicU32::new(0);
    let mains: [fn(); 2] = [|| loop {}, || while FLAG.load(SeqCst) == 0 {}];
    for main in mains {
        let failure = failure(after_store(main));
        assert_eq!(failure.kind, FailureKind::EndlessLoop, "{failure:?}");
        let text = "main runs without performing an operation";
        assert!(failure.message.contains(text), "{failure:?}");
        assert!(failure.interleaving.rows.len() >= 3, "{failure:?}");
    }
}

/// The thread may hold the lock of the standard allocator when it is stopped.
#[test]
fn a_loop_that_allocates_fails() {
    let failure = failure(after_store(|| {
        loop {
            drop(black_box(vec![0u8; 100_000]));
        }
    }));
    assert_eq!(failure.kind, FailureKind::EndlessLoop, "{failure:?}");
}

#[test]
fn many_operations_for_longer_than_the_patience_are_no_endless_loop() {
    let model = || {
        for _ in 0..4 {
            let begin = std::time::Instant::now();
            while begin.elapsed() < Duration::from_millis(150) {}
            black_box(AtomicU32::new(0).load(SeqCst));
        }
    };
    let report = Checker::new().patience(PATIENCE).check(model);
    assert_eq!(report.verdict, Verdict::Verified, "{report}");
}

/// Each execution runs to the bound, and there are thousands of them.
#[test]
fn a_spin_without_a_hint_ends_with_a_report() {
    let model = || {
        let shared = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&shared);
        let other = thread::spawn(move || other.store(1, SeqCst));
        while shared.load(SeqCst) == 0 {}
        other.join().unwrap();
    };
    let begin = std::time::Instant::now();
    let report = Checker::new().patience(PATIENCE).check(model);
    assert_eq!(report.verdict, Verdict::Bounded, "{report}");
    let text = report.to_string();
    assert!(text.contains("spin_loop"), "{report}");
    assert!(begin.elapsed() < Duration::from_secs(20), "{report}");
}
