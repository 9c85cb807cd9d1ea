//! Loops that wait for another thread. The await rule stops a thread after an iteration without an
//! effect.

use mazurka::future::block_on;
use mazurka::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use mazurka::sync::mpsc::channel;
use mazurka::sync::{Arc, Mutex, OnceLock, RwLock, Semaphore};
use mazurka::{Checker, FailureKind, Report, Style, Verdict, hint, thread};
use std::future::poll_fn;
use std::task::Poll;

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
        report.bounds[0].contains("limit of 50 on operations of a thread"),
        "{:?}",
        report.bounds
    );
}

/// The main thread polls `is_there` until another thread has run `bring_about`.
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
fn polling_under_a_lock_ends_like_polling_a_flag() {
    let reports = [
        polls(
            || Mutex::new(false),
            |flag| *flag.lock().unwrap() = true,
            |flag| *flag.lock().unwrap(),
        ),
        polls(
            || Mutex::new(false),
            |flag| *flag.lock().unwrap() = true,
            |flag| flag.try_lock().is_ok_and(|flag| *flag),
        ),
        polls(
            || RwLock::new(false),
            |flag| *flag.write().unwrap() = true,
            |flag| *flag.read().unwrap(),
        ),
        polls(
            || RwLock::new(false),
            |flag| *flag.write().unwrap() = true,
            |flag| flag.try_read().is_ok_and(|flag| *flag),
        ),
    ];
    for report in reports {
        assert_eq!(report.verdict, Verdict::Verified, "{report}");
        assert!(report.executions + report.halted < 20, "{report}");
    }
}

/// Each thread waits for the other, under the same lock.
#[test]
fn two_that_poll_under_a_lock_for_ever_are_stuck() {
    let report = Checker::new().check(|| {
        let shared = Arc::new(Mutex::new([false; 2]));
        let wait = |shared: &Mutex<[bool; 2]>, index: usize| {
            while !shared.lock().unwrap()[1 - index] {
                thread::yield_now();
            }
            shared.lock().unwrap()[index] = true;
        };
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || wait(&shared, 1)
        });
        wait(&shared, 0);
        other.join().unwrap();
    });
    assert_eq!(report.errors[0].kind, FailureKind::Stuck, "{report}");
}

/// An effect counts if another thread observes it before the loop undoes it: the `try_lock` fails,
/// or the mark is 1.
#[test]
fn effects_that_are_undone_are_noticed() {
    let report = Checker::new().check(|| {
        let shared = Arc::new(Mutex::new(false));
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                let is_free = shared.try_lock().is_ok();
                *shared.lock().unwrap() = true;
                assert!(is_free, "the bug");
            }
        });
        while !*shared.lock().unwrap() {
            thread::yield_now();
        }
        other.join().unwrap();
    });
    assert_eq!(report.errors[0].kind, FailureKind::Panic, "{report}");
    let report = Checker::new().check(|| {
        let shared = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                let mark = shared[0].load(SeqCst);
                shared[1].store(1, SeqCst);
                assert_eq!(mark, 0, "the bug");
            }
        });
        loop {
            shared[0].store(1, SeqCst);
            let is_there = shared[1].load(SeqCst) == 1;
            shared[0].store(0, SeqCst);
            if is_there {
                break;
            }
            thread::yield_now();
        }
        other.join().unwrap();
    });
    assert_eq!(report.errors[0].kind, FailureKind::Panic, "{report}");
}

/// The addition is the last operation before the hint, so the thread is at the same place in each
/// iteration.
#[test]
fn an_effect_right_before_the_hint_belongs_to_the_round() {
    let report = Checker::new().max_events(50).check(|| {
        let number = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
        let other = thread::spawn({
            let number = Arc::clone(&number);
            move || number[0].store(1, SeqCst)
        });
        while number[1].load(SeqCst) != 2 {
            if number[0].load(SeqCst) == 1 {
                number[1].fetch_add(1, SeqCst);
            }
            thread::yield_now();
        }
        other.join().unwrap();
        panic!("the bug");
    });
    assert_eq!(report.errors[0].kind, FailureKind::Panic, "{report}");
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

#[test]
fn a_loop_that_changes_its_heap_goes_on() {
    let report = Checker::new().check(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let other = thread::spawn({
            let flag = Arc::clone(&flag);
            move || flag.store(true, SeqCst)
        });
        let mut rounds = std::hint::black_box(Box::new(0));
        while !flag.load(SeqCst) {
            *rounds += 1;
            assert!(*rounds < 4, "the bug");
            hint::spin_loop();
        }
        other.join().unwrap();
    });
    assert_eq!(report.verdict, Verdict::Bug, "{report}");
    assert_eq!(report.errors[0].kind, FailureKind::Panic, "{report}");
    // Large objects do not lie in the memory (arenas) from which the model allocates small ones.
    let report = Checker::new().check(|| {
        let flag = AtomicBool::new(false);
        let mut rounds = std::hint::black_box(vec![0_u8; 200_000]);
        while !flag.load(SeqCst) && rounds[150_000] < 100 {
            rounds[150_000] += 1;
            hint::spin_loop();
        }
    });
    assert_eq!(report.verdict, Verdict::Verified, "{report}");
    assert_eq!((report.executions, report.halted), (1, 0));
}

#[test]
fn writing_the_value_that_is_there_is_no_effect() {
    let takes: [fn(&AtomicU32) -> bool; 3] = [
        |lock| lock.swap(1, SeqCst) == 0,
        |lock| lock.fetch_or(1, SeqCst) == 0,
        |lock| lock.compare_exchange(0, 1, SeqCst, SeqCst).is_ok(),
    ];
    for take in takes {
        let critical = move |shared: &(AtomicU32, AtomicU32)| {
            while !take(&shared.0) {
                thread::yield_now();
            }
            shared.1.store(shared.1.load(SeqCst) + 1, SeqCst);
            shared.0.store(0, SeqCst);
        };
        let report = Checker::new().check(move || {
            let shared = Arc::new((AtomicU32::new(0), AtomicU32::new(0)));
            let other = thread::spawn({
                let shared = Arc::clone(&shared);
                move || critical(&shared)
            });
            critical(&shared);
            other.join().unwrap();
            assert_eq!(shared.1.load(SeqCst), 2);
        });
        assert_eq!(report.verdict, Verdict::Verified, "{report}");
    }
}

/// Polls until `is_ready`, and wakes itself after each pending poll.
fn poll_again(is_ready: impl Fn() -> bool) {
    block_on(poll_fn(|context| {
        if is_ready() {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }));
}

#[test]
fn a_future_that_wakes_itself_spins() {
    let check = |value: bool| {
        Checker::new().check(move || {
            let flag = Arc::new(AtomicBool::new(false));
            let other = thread::spawn({
                let flag = Arc::clone(&flag);
                move || flag.store(value, SeqCst)
            });
            poll_again(|| flag.load(SeqCst));
            other.join().unwrap();
        })
    };
    let report = check(true);
    assert_eq!(report.verdict, Verdict::Verified, "{report}");
    assert!(report.halted > 0, "{report}");
    let report = check(false);
    assert_eq!(report.errors[0].kind, FailureKind::Stuck, "{report}");
}

/// The future keeps its progress on the heap.
#[test]
fn a_future_that_yields_and_makes_progress_ends() {
    let report = Checker::new().check(|| {
        let future: std::pin::Pin<Box<dyn Future<Output = ()>>> = Box::pin(async {
            for _ in 0..20 {
                mazurka::future::yield_now().await;
            }
        });
        block_on(future);
    });
    assert_eq!(report.verdict, Verdict::Verified, "{report}");
    assert_eq!((report.executions, report.halted), (1, 0));
}

/// In an equivalent order, the other threads end after the main thread's last check of the numbers.
#[test]
fn a_thread_is_alone_only_when_it_has_joined_all_others() {
    let report = Checker::new().waits_alone(10).check(|| {
        let shared = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
        let others = [0, 1].map(|index| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                if shared[0].fetch_add(1, SeqCst) == 0 {
                    shared[1].store(index + 1, SeqCst);
                }
            })
        });
        while shared[1].load(SeqCst) == 0 || shared[0].load(SeqCst) < 2 {
            thread::yield_now();
        }
        for other in others {
            other.join().unwrap();
        }
        let begin = std::time::Instant::now();
        let pause = std::time::Duration::from_micros(1);
        while begin.elapsed() < pause {
            thread::yield_now();
        }
    });
    assert_eq!(report.verdict, Verdict::Verified, "{report}");
}
