//! Loops that wait for another thread: the await rule.

use mazurka::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use mazurka::sync::mpsc::channel;
use mazurka::sync::{Arc, Mutex, OnceLock, RwLock, Semaphore};
use mazurka::{Checker, FailureKind, Report, Style, Verdict, hint, thread};

#[test]
fn a_loop_that_is_ended_verifies() {
    let report = Checker::new().check(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let other = thread::spawn({
            let flag = Arc::clone(&flag);
            move || flag.store(true, SeqCst)
        });
        while !flag.load(SeqCst) {
            hint::spin_loop();
        }
        other.join().unwrap();
    });
    assert_eq!(
        report.verdict,
        Verdict::Verified,
        "{}",
        report.text(Style::default())
    );
    assert!(report.halted > 0);
}

#[test]
fn a_loop_that_nobody_ends_is_stuck() {
    let report = Checker::new().check(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let other = thread::spawn({
            let flag = Arc::clone(&flag);
            move || flag.store(false, SeqCst)
        });
        while !flag.load(SeqCst) {
            thread::yield_now();
        }
        other.join().unwrap();
    });
    assert_eq!(report.verdict, Verdict::Bug);
    assert_eq!(
        report.errors[0].kind,
        FailureKind::Stuck,
        "{}",
        report.text(Style::default())
    );
}

#[test]
fn a_loop_that_counts_its_rounds_runs_out() {
    let report = Checker::new().check(|| {
        let flag = AtomicBool::new(false);
        let mut rounds = 0;
        while !flag.load(SeqCst) && rounds < 100 {
            rounds += 1;
            hint::spin_loop();
        }
        assert_eq!(rounds, 100);
    });
    assert_eq!(
        report.verdict,
        Verdict::Verified,
        "{}",
        report.text(Style::default())
    );
    assert_eq!((report.executions, report.halted), (1, 0));
}

#[test]
fn a_spin_lock_by_compare_exchange_excludes() {
    let report = Checker::new().check(|| {
        let shared = Arc::new((AtomicBool::new(false), AtomicU32::new(0)));
        let add = |shared: &(AtomicBool, AtomicU32)| {
            while shared
                .0
                .compare_exchange(false, true, SeqCst, SeqCst)
                .is_err()
            {
                hint::spin_loop();
            }
            shared.1.store(shared.1.load(SeqCst) + 1, SeqCst);
            shared.0.store(false, SeqCst);
        };
        let others: Vec<_> = (0..2)
            .map(|_| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || add(&shared))
            })
            .collect();
        add(&shared);
        for other in others {
            other.join().unwrap();
        }
        assert_eq!(shared.1.load(SeqCst), 3);
    });
    assert_eq!(
        report.verdict,
        Verdict::Verified,
        "{}",
        report.text(Style::default())
    );
}

#[test]
fn a_lock_that_is_never_released_is_stuck() {
    let report = Checker::new().check(|| {
        let lock = Arc::new(AtomicBool::new(false));
        let take = |lock: &AtomicBool| {
            while lock.swap(true, SeqCst) {
                while lock.load(SeqCst) {
                    hint::spin_loop();
                }
            }
        };
        let other = thread::spawn({
            let lock = Arc::clone(&lock);
            move || take(&lock)
        });
        take(&lock);
        other.join().unwrap();
    });
    assert_eq!(
        report.errors[0].kind,
        FailureKind::Stuck,
        "{}",
        report.text(Style::default())
    );
}

#[test]
fn a_loop_without_hint_is_bounded() {
    let report = Checker::new().max_events(50).check(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let other = thread::spawn({
            let flag = Arc::clone(&flag);
            move || flag.store(true, SeqCst)
        });
        while !flag.load(SeqCst) {}
        other.join().unwrap();
    });
    assert_eq!(
        report.verdict,
        Verdict::Bounded,
        "{}",
        report.text(Style::default())
    );
    assert!(
        report.bounds[0].contains("50 operations of a thread"),
        "{:?}",
        report.bounds
    );
}

/// Main waits until `is_there` says so, which another thread brings about.
fn polls<T: Send + Sync + 'static>(
    create: fn() -> T,
    bring_about: fn(&T),
    is_there: fn(&T) -> bool,
) -> Report {
    Checker::new().max_events(100).check(move || {
        let shared = Arc::new(create());
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || bring_about(&shared)
        });
        while !is_there(&shared) {
            hint::spin_loop();
        }
        other.join().unwrap();
    })
}

#[test]
fn polling_by_tries_ends_like_polling_a_flag() {
    let reports = [
        polls(
            || Semaphore::new(0),
            |semaphore| semaphore.release(),
            Semaphore::try_acquire,
        ),
        polls(
            OnceLock::new,
            |cell| cell.set(1).unwrap(),
            |cell| cell.get().is_some(),
        ),
    ];
    for report in reports {
        assert_eq!(
            report.verdict,
            Verdict::Verified,
            "{}",
            report.text(Style::default())
        );
    }
}

#[test]
fn polling_under_a_lock_has_an_effect_and_is_bounded() {
    let reports = [
        polls(
            || Mutex::new(false),
            |flag| *flag.lock().unwrap() = true,
            |flag| flag.try_lock().is_ok_and(|flag| *flag),
        ),
        polls(
            || RwLock::new(false),
            |flag| *flag.write().unwrap() = true,
            |flag| flag.try_read().is_ok_and(|flag| *flag),
        ),
    ];
    for report in reports {
        assert_eq!(
            report.verdict,
            Verdict::Bounded,
            "{}",
            report.text(Style::default())
        );
    }
}

#[test]
fn polling_a_channel_or_a_thread_verifies() {
    let report = Checker::new().check(|| {
        let (sender, receiver) = channel();
        let other = thread::spawn(move || {
            sender.send(5).unwrap();
            sender
        });
        let received = loop {
            match receiver.try_recv() {
                Ok(message) => break message,
                Err(_) => hint::spin_loop(),
            }
        };
        assert_eq!(received, 5);
        while !other.is_finished() {
            thread::yield_now();
        }
        other.join().unwrap();
    });
    assert_eq!(
        report.verdict,
        Verdict::Verified,
        "{}",
        report.text(Style::default())
    );
}

#[test]
fn a_lock_that_is_polled_for_ever_is_stuck() {
    let report = Checker::new().check(|| {
        let lock = Mutex::new(());
        let _guard = lock.lock().unwrap();
        while lock.try_lock().is_err() {
            hint::spin_loop();
        }
    });
    assert_eq!(
        report.errors[0].kind,
        FailureKind::Stuck,
        "{}",
        report.text(Style::default())
    );
}
