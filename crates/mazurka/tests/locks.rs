//! Mutex, RwLock, Condvar and Semaphore: every outcome of std, including poisoning and timeouts.

mod outcomes;

use mazurka::sync::{Arc, Condvar, Mutex, RwLock, RwLockWriteGuard, Semaphore, TryLockError};
use mazurka::{Algorithm, Checker, FailureKind, MemoryModel, Style, Verdict, thread};
use outcomes::{explored, outcomes};
use std::collections::BTreeSet;
use std::time::Duration;

const SOON: Duration = Duration::from_millis(1);

#[test]
fn a_mutex_excludes() {
    let report = Checker::new().check(|| {
        let count = Arc::new(Mutex::new(0));
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let count = Arc::clone(&count);
                thread::spawn(move || *count.lock().unwrap() += 1)
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(Arc::into_inner(count).unwrap().into_inner().unwrap(), 3);
    });
    assert_eq!(report.verdict, Verdict::Verified);
    assert_eq!((report.executions, report.blocked), (6, 0));
}

#[test]
fn try_lock_succeeds_and_fails() {
    // loom misses the failure.
    let seen = outcomes(|| {
        let lock = Arc::new(Mutex::new(()));
        let other = thread::spawn({
            let lock = Arc::clone(&lock);
            move || drop(lock.lock().unwrap())
        });
        let is_locked = match lock.try_lock() {
            Ok(_) => false,
            Err(TryLockError::WouldBlock) => true,
            Err(TryLockError::Poisoned(_)) => unreachable!("nobody panics"),
        };
        other.join().unwrap();
        is_locked
    });
    assert_eq!(seen, BTreeSet::from([false, true]));
}

#[test]
fn opposite_lock_orders_deadlock() {
    let report = Checker::new().check(|| {
        let locks = Arc::new((Mutex::new(()), Mutex::new(())));
        let other = thread::spawn({
            let locks = Arc::clone(&locks);
            move || {
                let _second = locks.1.lock().unwrap();
                let _first = locks.0.lock().unwrap();
            }
        });
        {
            let _first = locks.0.lock().unwrap();
            let _second = locks.1.lock().unwrap();
        }
        other.join().unwrap();
    });
    assert_eq!(report.verdict, Verdict::Bug);
    assert_eq!(report.errors[0].kind, FailureKind::Deadlock);
    assert_eq!(report.deadlocks, 1);
}

#[test]
fn locking_twice_deadlocks() {
    let report = Checker::new().check(|| {
        let lock = Mutex::new(());
        let _first = lock.lock().unwrap();
        let _second = lock.lock().unwrap();
    });
    assert_eq!(report.errors[0].kind, FailureKind::Deadlock);
}

#[test]
fn a_panic_poisons_the_mutex_and_the_writer_but_not_the_reader() {
    let seen = outcomes(|| {
        let lock = Arc::new((Mutex::new(1), RwLock::new(2), RwLock::new(3)));
        let other = thread::spawn({
            let lock = Arc::clone(&lock);
            move || {
                let _first = lock.0.lock();
                let _second = lock.1.write();
                let _third = lock.2.read();
                panic!("with three locks");
            }
        });
        assert!(other.join().is_err());
        let poisoned = (
            lock.0.is_poisoned(),
            lock.1.is_poisoned(),
            lock.2.is_poisoned(),
        );
        assert_eq!(*lock.0.lock().unwrap_err().into_inner(), 1);
        assert!(matches!(lock.1.try_read(), Err(TryLockError::Poisoned(_))));
        lock.0.clear_poison();
        assert!(lock.0.lock().is_ok());
        poisoned
    });
    assert_eq!(seen, BTreeSet::from([(true, true, false)]));
}

#[test]
fn poison_is_asked_for_without_the_lock_before_and_after_a_panic() {
    let program = || {
        let locks = Arc::new((Mutex::new(1), RwLock::new(2)));
        let other = thread::spawn({
            let locks = Arc::clone(&locks);
            move || {
                let _first = locks.0.lock();
                let _second = locks.1.write();
                panic!("with two locks");
            }
        });
        // The writer releases its lock first.
        let seen = (locks.0.is_poisoned(), locks.1.is_poisoned());
        assert!(other.join().is_err());
        seen
    };
    let (yes, no) = (true, false);
    let all = BTreeSet::from([(no, no), (no, yes), (yes, yes)]);
    let sequential = || Checker::new().memory(MemoryModel::Sc);
    for algorithm in Algorithm::general().filter(|one| one.proves()) {
        let (seen, report) = explored(sequential().algorithm(algorithm), program);
        assert_eq!(seen, all, "{algorithm}");
        if algorithm.is_optimal() {
            assert_eq!((report.executions, report.blocked), (3, 0), "{algorithm}");
        }
    }
    // As in std, the poison flags are stored and loaded with relaxed orderings, so the first may be
    // seen without the second.
    let (seen, _) = explored(Checker::new(), program);
    assert_eq!(seen, &all | &BTreeSet::from([(yes, no)]));
}

#[test]
fn poison_is_cleared_without_the_lock_before_and_after_a_lock() {
    let seen = outcomes(|| {
        let lock = Arc::new(Mutex::new(1));
        let poisoner = Arc::clone(&lock);
        let panicked = thread::spawn(move || {
            let _guard = poisoner.lock();
            panic!("with the lock");
        });
        assert!(panicked.join().is_err());
        let other = thread::spawn({
            let lock = Arc::clone(&lock);
            move || lock.lock().is_ok()
        });
        lock.clear_poison();
        other.join().unwrap()
    });
    assert_eq!(seen, BTreeSet::from([false, true]));
}

#[test]
fn poison_is_no_event_where_it_is_asked_for_by_holders_only() {
    let report = Checker::new().check(|| {
        let lock = Arc::new(Mutex::new(1));
        let other = Arc::clone(&lock);
        let panicked = thread::spawn(move || {
            let _guard = other.lock();
            panic!("with the lock");
        });
        assert!(panicked.join().is_err());
        assert!(lock.lock().is_err());
    });
    // Lock request, unlock; lock request, unlock.
    assert_eq!((report.executions, report.events), (1, 4));
}

#[test]
fn readers_share_and_a_writer_excludes() {
    let seen = outcomes(|| {
        let lock = Arc::new(RwLock::new(0));
        let reader = thread::spawn({
            let lock = Arc::clone(&lock);
            move || {
                let first = lock.read().unwrap();
                let again = *first;
                (again, *first)
            }
        });
        {
            let mut value = lock.write().unwrap();
            *value = 1;
            *value = 2;
        }
        let (a, b) = reader.join().unwrap();
        assert_eq!(a, b);
        a
    });
    assert_eq!(seen, BTreeSet::from([0, 2]));
}

#[test]
fn two_readers_are_one_trace() {
    let report = Checker::new().check(|| {
        let lock = Arc::new(RwLock::new(7));
        let other = thread::spawn({
            let lock = Arc::clone(&lock);
            move || *lock.read().unwrap()
        });
        assert_eq!(*lock.read().unwrap(), 7);
        assert_eq!(other.join().unwrap(), 7);
    });
    assert_eq!((report.verdict, report.executions), (Verdict::Verified, 1));
}

#[test]
fn try_read_and_try_write_succeed_and_fail() {
    // loom misses the failures.
    let seen = outcomes(|| {
        let lock = Arc::new(RwLock::new(()));
        let other = thread::spawn({
            let lock = Arc::clone(&lock);
            move || drop(lock.write().unwrap())
        });
        let read = lock.try_read().is_ok();
        let written = lock.try_write().is_ok();
        other.join().unwrap();
        (read, written)
    });
    assert_eq!(
        seen,
        BTreeSet::from([(false, false), (false, true), (true, false), (true, true)])
    );
}

#[test]
fn a_condvar_hands_over_and_misses_no_signal() {
    let report = Checker::new().check(|| {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                *shared.0.lock().unwrap() = true;
                shared.1.notify_one();
            }
        });
        let mut is_ready = shared.0.lock().unwrap();
        while !*is_ready {
            is_ready = shared.1.wait(is_ready).unwrap();
        }
        drop(is_ready);
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
fn a_signal_before_the_wait_is_lost() {
    let report = Checker::new().check(|| {
        let shared = Arc::new((Mutex::new(()), Condvar::new()));
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || shared.1.notify_one()
        });
        let guard = shared.0.lock().unwrap();
        drop(shared.1.wait(guard).unwrap());
        other.join().unwrap();
    });
    assert_eq!(report.errors[0].kind, FailureKind::Deadlock);
}

#[test]
fn any_waiter_may_be_woken() {
    let seen = outcomes(|| {
        let shared = Arc::new((Mutex::new((0, 0)), Condvar::new(), Condvar::new()));
        let waiters: Vec<_> = (1..=2)
            .map(|n| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    let mut state = shared.0.lock().unwrap();
                    state.0 += 1;
                    shared.2.notify_one();
                    state = shared.1.wait(state).unwrap();
                    if state.1 == 0 {
                        state.1 = n;
                    }
                })
            })
            .collect();
        let mut state = shared.0.lock().unwrap();
        while state.0 < 2 {
            state = shared.2.wait(state).unwrap();
        }
        shared.1.notify_one();
        shared.1.notify_one();
        drop(state);
        for waiter in waiters {
            waiter.join().unwrap();
        }
        shared.0.lock().unwrap().1
    });
    assert_eq!(seen, BTreeSet::from([1, 2]));
}

#[test]
fn notify_all_wakes_all_and_wait_while_waits() {
    mazurka::model(|| {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let waiters: Vec<_> = (0..2)
            .map(|_| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    let open = shared.1.wait_while(shared.0.lock().unwrap(), |open| !*open);
                    assert!(*open.unwrap());
                })
            })
            .collect();
        *shared.0.lock().unwrap() = true;
        shared.1.notify_all();
        for waiter in waiters {
            waiter.join().unwrap();
        }
    });
}

#[test]
fn a_timed_wait_is_signalled_or_times_out() {
    let seen = outcomes(|| {
        let shared = Arc::new((Mutex::new(()), Condvar::new()));
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || shared.1.notify_one()
        });
        let (guard, result) = shared
            .1
            .wait_timeout(shared.0.lock().unwrap(), SOON)
            .unwrap();
        drop(guard);
        other.join().unwrap();
        result.timed_out()
    });
    assert_eq!(seen, BTreeSet::from([false, true]));
}

#[test]
fn a_loop_of_timeouts_is_bounded() {
    let (_, report) = explored(Checker::new(), || {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                *shared.0.lock().unwrap() = true;
                shared.1.notify_one();
            }
        });
        let mut is_ready = shared.0.lock().unwrap();
        while !*is_ready {
            is_ready = shared.1.wait_timeout(is_ready, SOON).unwrap().0;
        }
        drop(is_ready);
        other.join().unwrap();
    });
    assert_eq!(
        report.verdict,
        Verdict::Bounded,
        "{}",
        report.text(Style::default())
    );
    assert!(report.halted > 0);
}

#[test]
fn a_semaphore_admits_as_many_as_it_has_permits() {
    let seen = outcomes(|| {
        let semaphore = Arc::new(Semaphore::new(1));
        let other = thread::spawn({
            let semaphore = Arc::clone(&semaphore);
            move || {
                semaphore.acquire();
                semaphore.release();
            }
        });
        let acquired = semaphore.try_acquire();
        if acquired {
            semaphore.release();
        }
        let timed = semaphore.acquire_timeout(SOON);
        if timed {
            semaphore.release();
        }
        other.join().unwrap();
        (acquired, timed)
    });
    assert_eq!(
        seen,
        BTreeSet::from([(false, false), (false, true), (true, false), (true, true)])
    );
}

#[test]
fn guards_show_what_they_guard_without_an_operation() {
    mazurka::model(|| {
        let lock = Mutex::new(5);
        assert_eq!(format!("{:?}", lock.lock().unwrap()), "5");
        assert_eq!(
            format!("{lock:?}"),
            "Mutex { data: 5, poisoned: false, .. }"
        );
        let guard = lock.lock().unwrap();
        assert_eq!(
            format!("{lock:?}"),
            "Mutex { data: \"<locked>\", poisoned: false, .. }"
        );
        drop(guard);
        let lock = RwLock::from(6);
        assert_eq!(
            format!("{lock:?}"),
            "RwLock { data: 6, poisoned: false, .. }"
        );
    });
}

#[test]
fn a_panic_that_goes_on_poisons() {
    mazurka::model(|| {
        let lock = Mutex::new(0);
        let result = thread::scope(|scope| {
            let child = scope.spawn(|| {
                let _guard = lock.lock();
                std::panic::resume_unwind(Box::new("goes on"));
            });
            child.join()
        });
        assert!(result.is_err() && lock.is_poisoned() && !thread::panicking());
    });
}

#[test]
fn no_writer_comes_between_a_write_and_the_read_that_it_becomes() {
    let seen = outcomes(|| {
        let lock = Arc::new(RwLock::new(0));
        let writer = thread::spawn({
            let lock = Arc::clone(&lock);
            move || *lock.write().unwrap() = 2
        });
        let reader = thread::spawn({
            let lock = Arc::clone(&lock);
            move || *lock.read().unwrap()
        });
        let mut guard = lock.write().unwrap();
        *guard = 1;
        let guard = RwLockWriteGuard::downgrade(guard);
        assert_eq!(*guard, 1);
        let is_shared = lock.try_read().is_ok();
        drop(guard);
        writer.join().unwrap();
        (is_shared, reader.join().unwrap())
    });
    let all = [false, true].map(|is_shared| [0, 1, 2].map(|read| (is_shared, read)));
    assert_eq!(seen, BTreeSet::from_iter(all.into_iter().flatten()));
}
