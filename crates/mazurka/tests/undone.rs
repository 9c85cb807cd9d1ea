//! Loops whose iterations undo their effects on memory. The trace decides whether an iteration has
//! an effect.

use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::sync::{Arc as Counted, Mutex, RwLock};
use mazurka::{Algorithm, Checker, FailureKind, Report, Verdict, hint, thread};
use std::sync::Arc;
use std::task::Waker;

fn reports(program: fn()) -> [Report; 3] {
    let algorithms = [
        Algorithm::Parsimonious,
        Algorithm::Optimal,
        Algorithm::Source,
    ];
    algorithms.map(|algorithm| {
        let checker = Checker::new().algorithm(algorithm).keep_going(true);
        checker.check(program)
    })
}

/// Polls until `is_there`. The first two iterations change the stack.
fn poll(is_there: impl Fn() -> bool) {
    let mut rounds = 0;
    while !is_there() {
        rounds = 2.min(std::hint::black_box(rounds) + 1);
        thread::yield_now();
    }
}

/// The number of simultaneous readers depends on the order of events that commute. An execution
/// counts as halted if a reader came after the last round of the writer, because that reader might
/// have changed something.
#[test]
fn readers_that_poll_together_change_nothing() {
    let reports = reports(|| {
        let numbers = [const { AtomicU32::new(0) }; 2];
        let shared = Arc::new((RwLock::new(()), numbers, Mutex::new(0)));
        let readers = [1, 0].map(|number: usize| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                poll(|| {
                    let _guard = shared.0.read().unwrap();
                    shared.1[number].load(SeqCst) == 1
                });
            })
        });
        *shared.2.lock().unwrap() = 1;
        poll(|| {
            let _guard = shared.0.write().unwrap();
            shared.1[1].load(SeqCst) == 1
        });
        for reader in readers {
            reader.join().unwrap();
        }
    });
    for report in reports {
        assert_eq!(report.errors[0].kind, FailureKind::Stuck, "{report}");
        assert_eq!((report.executions, report.halted), (1600, 3300));
    }
}

/// The number of shares also depends on the order of events that commute.
#[test]
fn shares_that_are_taken_for_a_round_change_nothing() {
    let reports = reports(|| {
        let shared = Arc::new([const { AtomicU32::new(0) }; 2]);
        let pollers = [0, 1].map(|number: usize| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || poll(|| Arc::clone(&shared)[number].load(SeqCst) == 1))
        });
        shared.iter().for_each(|number| number.store(1, SeqCst));
        for poller in pollers {
            poller.join().unwrap();
        }
    });
    for report in reports {
        assert!(report.errors.is_empty(), "{report}");
        assert_eq!((report.executions, report.halted), (16, 9));
    }
}

/// The bug occurs only if the other thread sees the mark in two iterations, so both iterations must
/// count as having an effect.
#[test]
fn memory_that_others_saw_marked_under_a_lock_is_an_effect() {
    let reports = reports(|| {
        let shared = Arc::new((Mutex::new(0), AtomicU32::new(0)));
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                let finds = |mark: u32| *shared.0.lock().unwrap() == mark;
                if finds(1) && finds(0) && finds(1) {
                    shared.1.store(1, SeqCst);
                }
            }
        });
        while shared.1.load(SeqCst) == 0 {
            *shared.0.lock().unwrap() = 1;
            *shared.0.lock().unwrap() = 0;
            hint::spin_loop();
        }
        other.join().unwrap();
        panic!("the bug");
    });
    for report in reports {
        let mut errors = report.errors.iter();
        assert!(
            errors.any(|error| error.kind == FailureKind::Panic),
            "{report}"
        );
    }
}

/// Each iteration queries the count of shares, which another thread changes later.
#[test]
fn a_loop_on_a_count_of_shares_ends() {
    let programs: [fn(); 4] = [
        || {
            let shared = Counted::new(());
            let weak = Counted::downgrade(&shared);
            let other = thread::spawn(move || drop(shared));
            while weak.upgrade().is_some() {
                thread::yield_now();
            }
            other.join().unwrap();
        },
        || {
            let mut shared = Counted::new(());
            let share = Counted::clone(&shared);
            let other = thread::spawn(move || drop(share));
            while let Err(back) = Counted::try_unwrap(shared) {
                shared = back;
                thread::yield_now();
            }
            other.join().unwrap();
        },
        || {
            let shared = Counted::new(());
            let weak = Counted::downgrade(&shared);
            let other = thread::spawn(move || drop(weak));
            while Counted::weak_count(&shared) > 0 {
                thread::yield_now();
            }
            other.join().unwrap();
        },
        || {
            let mut shared = Counted::new(());
            let weak = Counted::downgrade(&shared);
            let other = thread::spawn(move || drop(weak));
            while Counted::get_mut(&mut shared).is_none() {
                thread::yield_now();
            }
            other.join().unwrap();
        },
    ];
    for (number, program) in programs.into_iter().enumerate() {
        for report in reports(program) {
            assert_eq!(report.verdict, Verdict::Verified, "{number}: {report}");
            assert_eq!((report.executions, report.halted), (2, 1), "{number}");
        }
    }
}

/// A loop on a weak reference to a value that is still owned.
#[test]
fn a_loop_on_a_count_of_shares_that_stays_is_stuck() {
    for report in reports(|| {
        let shared = Counted::new(());
        let weak = Counted::downgrade(&shared);
        while weak.upgrade().is_some() {
            thread::yield_now();
        }
        drop(shared);
    }) {
        assert_eq!(report.errors[0].kind, FailureKind::Stuck, "{report}");
    }
}

/// In each iteration, a thread upgrades its reference and so may hold the last share. Which thread
/// does depends on the order of events that commute.
#[test]
fn the_last_of_two_that_poll_drops_the_value() {
    for report in reports(|| {
        let shared = Counted::new(1);
        let pollers = [(), ()].map(|()| {
            let weak = Counted::downgrade(&shared);
            thread::spawn(move || {
                while weak.upgrade().is_some() {
                    thread::yield_now();
                }
            })
        });
        drop(shared);
        for poller in pollers {
            poller.join().unwrap();
        }
    }) {
        assert_eq!(report.verdict, Verdict::Verified, "{report}");
        assert_eq!((report.executions, report.halted), (142, 334));
    }
}

/// Moving a `None` copies old contents of registers in place of the missing payload. These contents
/// must not count as an effect.
#[test]
fn what_operations_leave_in_registers_is_no_state() {
    for report in reports(|| {
        let waker = mazurka::future::AtomicWaker::new();
        let flag = Arc::new(AtomicU32::new(0));
        let other = thread::spawn({
            let flag = Arc::clone(&flag);
            move || flag.store(1, SeqCst)
        });
        while flag.load(SeqCst) == 0 {
            waker.register(Waker::noop().clone());
            waker.wake();
            thread::yield_now();
        }
        other.join().unwrap();
    }) {
        assert_eq!(report.verdict, Verdict::Verified, "{report}");
        assert_eq!((report.executions, report.halted), (2, 1));
    }
}
