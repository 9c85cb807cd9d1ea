//! Behaviour of the standard library that loom 0.7.2 misses or lacks. Mazurka finds all of it.

use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::sync::mpsc::{RecvTimeoutError, TryRecvError, channel, sync_channel};
use mazurka::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, Weak};
use mazurka::{Algorithm, Checker, FailureKind, Report, Verdict, thread};
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::{Arc as StdArc, Mutex as StdMutex};
use std::time::Duration;

const SOME_TIME: Duration = Duration::from_secs(1);

fn check(program: impl Fn() + 'static) -> Report {
    Checker::new().check(program)
}

/// Returns the results of all executions, which are the same with brute force and with the default.
fn results<T: Ord + Debug + 'static>(program: impl Fn() -> T + Copy + 'static) -> BTreeSet<T> {
    let [exhaustive, parsimonious] = [Algorithm::Exhaustive, Algorithm::Parsimonious]
        .map(|algorithm| results_by(algorithm, program));
    assert_eq!(exhaustive, parsimonious);
    exhaustive
}

fn results_by<T: Ord + Debug + 'static>(
    algorithm: Algorithm,
    program: impl Fn() -> T + 'static,
) -> BTreeSet<T> {
    let seen = StdArc::new(StdMutex::new(BTreeSet::new()));
    let report = Checker::new().algorithm(algorithm).check({
        let seen = StdArc::clone(&seen);
        move || {
            let result = program();
            seen.lock().unwrap().insert(result);
        }
    });
    assert!(report.errors.is_empty(), "{}", report.errors[0].message);
    std::mem::take(&mut seen.lock().unwrap())
}

// loom is not exhaustive.

#[test]
fn a_load_sees_a_store_that_comes_after_a_load_of_its_own_thread() {
    // loom runs one execution, in which the load returns 0.
    let values = results(|| {
        let x = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&x);
        thread::spawn(move || {
            other.load(SeqCst);
            other.store(1, SeqCst);
        });
        x.load(SeqCst)
    });
    assert_eq!(values, BTreeSet::from([0, 1]));
}

#[test]
fn a_try_lock_fails_while_another_thread_holds_the_mutex() {
    let values = results(|| {
        let lock = Arc::new(Mutex::new(()));
        let other = Arc::clone(&lock);
        thread::spawn(move || drop(other.lock().unwrap()));
        lock.try_lock().is_ok()
    });
    assert_eq!(values, BTreeSet::from([false, true]));
}

#[test]
fn a_try_read_fails_while_another_thread_writes() {
    let values = results(|| {
        let lock = Arc::new(RwLock::new(()));
        let other = Arc::clone(&lock);
        thread::spawn(move || drop(other.write().unwrap()));
        lock.try_read().is_ok()
    });
    assert_eq!(values, BTreeSet::from([false, true]));
}

#[test]
fn a_try_recv_finds_the_message_or_nothing_or_the_end() {
    let values = results(|| {
        let (sender, receiver) = channel();
        thread::spawn(move || sender.send(1).is_ok());
        match receiver.try_recv() {
            Ok(value) => value,
            Err(TryRecvError::Empty) => 2,
            Err(TryRecvError::Disconnected) => 3,
        }
    });
    assert_eq!(values, BTreeSet::from([1, 2]));
}

// Features that users of loom request.

#[test]
fn threads_of_a_scope_borrow() {
    let values = results(|| {
        let x = AtomicU32::new(0);
        thread::scope(|scope| {
            scope.spawn(|| x.store(1, SeqCst));
            x.load(SeqCst)
        })
    });
    assert_eq!(values, BTreeSet::from([0, 1]));
}

#[test]
fn weak_references_are_upgraded_or_not() {
    let values = results(|| {
        let shared = Arc::new(1);
        let weak: Weak<u32> = Arc::downgrade(&shared);
        let other = thread::spawn(move || weak.upgrade().is_some());
        drop(shared);
        other.join().unwrap()
    });
    assert_eq!(values, BTreeSet::from([false, true]));
}

#[test]
fn one_thread_leads_at_a_barrier() {
    let values = results(|| {
        let barrier = Arc::new(Barrier::new(2));
        let other = Arc::clone(&barrier);
        let other = thread::spawn(move || other.wait().is_leader());
        let leads = barrier.wait().is_leader();
        assert_ne!(leads, other.join().unwrap());
        leads
    });
    assert_eq!(values, BTreeSet::from([false, true]));
}

#[test]
fn a_once_runs_once_a_once_lock_keeps_the_first_value_and_a_lazy_lock_is_computed_by_either() {
    let values = results(|| {
        let runs = AtomicU32::new(0);
        let (once, cell) = (Once::new(), OnceLock::new());
        let lazy = LazyLock::new(|| runs.fetch_add(10, SeqCst));
        thread::scope(|scope| {
            scope.spawn(|| {
                once.call_once(|| {
                    runs.fetch_add(1, SeqCst);
                });
                *cell.get_or_init(|| 1) + *lazy
            });
            once.call_once(|| {
                runs.fetch_add(1, SeqCst);
            });
            cell.get_or_init(|| 2);
            let _ = *lazy;
        });
        assert_eq!(runs.load(SeqCst), 11);
        *cell.get().unwrap()
    });
    assert_eq!(values, BTreeSet::from([1, 2]));
}

#[test]
fn timed_operations_expire_or_do_not() {
    let parked = results(|| {
        let woken = Arc::new(AtomicU32::new(0));
        let (flag, main) = (Arc::clone(&woken), thread::current());
        thread::spawn(move || {
            flag.store(1, SeqCst);
            main.unpark();
        });
        thread::park_timeout(SOME_TIME);
        woken.load(SeqCst)
    });
    assert_eq!(parked, BTreeSet::from([0, 1]));
    let received = results(|| {
        let (sender, receiver) = channel();
        thread::spawn(move || sender.send(7).is_ok());
        receiver.recv_timeout(SOME_TIME).ok()
    });
    assert_eq!(received, BTreeSet::from([None, Some(7)]));
    let waited = results(|| {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let other = Arc::clone(&shared);
        thread::spawn(move || {
            *other.0.lock().unwrap() = true;
            other.1.notify_one();
        });
        let ready = shared.0.lock().unwrap();
        let (ready, result) = shared
            .1
            .wait_timeout_while(ready, SOME_TIME, |ready| !*ready)
            .unwrap();
        assert_eq!(*ready, !result.timed_out());
        *ready
    });
    assert_eq!(waited, BTreeSet::from([false, true]));
}

#[test]
fn a_channel_with_a_bound_is_full_and_channels_hang_up() {
    let values = results(|| {
        let (sender, receiver) = sync_channel(1);
        let other = thread::spawn(move || {
            sender.send(1).unwrap();
            sender.try_send(2).is_ok()
        });
        let received: Vec<u32> = receiver.iter().collect();
        (received.len(), other.join().unwrap())
    });
    assert_eq!(values, BTreeSet::from([(1, false), (2, true)]));
    let report = check(|| {
        let (sender, receiver) = channel::<u32>();
        drop(sender);
        assert_eq!(
            receiver.recv_timeout(SOME_TIME),
            Err(RecvTimeoutError::Disconnected)
        );
    });
    assert_eq!(report.verdict, Verdict::Verified);
}

#[test]
fn a_panic_poisons_and_join_returns_it() {
    let report = check(|| {
        let lock = Arc::new(Mutex::new(0));
        let other = Arc::clone(&lock);
        let panic = thread::spawn(move || {
            let _guard = other.lock().unwrap();
            panic!("with the lock");
        })
        .join()
        .unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"with the lock"));
        assert!(lock.is_poisoned());
    });
    assert_eq!(report.verdict, Verdict::Verified);
}

#[test]
fn a_model_may_have_more_than_five_threads() {
    let report = check(|| {
        for _ in 0..20 {
            thread::spawn(|| ());
        }
    });
    assert_eq!((report.verdict, report.executions), (Verdict::Verified, 1));
}

#[test]
fn sequentially_consistent_accesses_are_so() {
    // Store buffering: loom lets both threads read 0.
    let values = results(|| {
        let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
        thread::scope(|scope| {
            let other = scope.spawn(|| {
                x.store(1, SeqCst);
                y.load(SeqCst)
            });
            y.store(1, SeqCst);
            (x.load(SeqCst), other.join().unwrap())
        })
    });
    assert_eq!(values, BTreeSet::from([(0, 1), (1, 0), (1, 1)]));
}

#[test]
fn a_bound_is_reported() {
    let report = Checker::new().preemptions(0).check(|| {
        let x = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&x);
        thread::spawn(move || {
            other.store(1, SeqCst);
            other.store(2, SeqCst);
        });
        x.load(SeqCst);
        x.load(SeqCst);
    });
    assert_eq!(report.verdict, Verdict::Bounded);
}

#[test]
fn what_is_optimal_runs_each_trace_once() {
    let report = check(|| {
        let x = AtomicU32::new(0);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| x.load(SeqCst));
            }
            scope.spawn(|| x.store(1, SeqCst));
        });
    });
    // Each of the three loads comes before or after the store.
    assert_eq!((report.executions, report.blocked), (8, 0));
}

#[test]
fn a_missed_notification_is_a_deadlock() {
    let report = check(|| {
        let shared = Arc::new((AtomicU32::new(0), Mutex::new(()), Condvar::new()));
        let other = Arc::clone(&shared);
        let waiter = thread::spawn(move || {
            let guard = other.1.lock().unwrap();
            if other.0.load(SeqCst) == 0 {
                drop(other.2.wait(guard));
            }
        });
        shared.0.store(1, SeqCst);
        shared.2.notify_one();
        waiter.join().unwrap();
    });
    assert_eq!(report.errors[0].kind, FailureKind::Deadlock);
}

#[test]
fn spurious_failures_and_wakeups_are_choices_where_they_are_asked_for() {
    let exchange = || {
        let x = AtomicU32::new(0);
        assert!(x.compare_exchange_weak(0, 1, SeqCst, SeqCst).is_ok());
    };
    assert_eq!(check(exchange).verdict, Verdict::Verified);
    let report = Checker::new().spurious(1).check(exchange);
    assert_eq!(report.errors[0].kind, FailureKind::Panic);
    let wait = || {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let other = Arc::clone(&shared);
        thread::spawn(move || {
            *other.0.lock().unwrap() = true;
            other.1.notify_one();
        });
        let ready = shared.0.lock().unwrap();
        if !*ready {
            assert!(*shared.1.wait(ready).unwrap(), "woken for no reason");
        }
    };
    assert_eq!(check(wait).verdict, Verdict::Verified);
    let report = Checker::new().spurious(1).check(wait);
    assert!(report.errors[0].message.contains("woken for no reason"));
    let patient = || {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let other = Arc::clone(&shared);
        thread::spawn(move || {
            *other.0.lock().unwrap() = true;
            other.1.notify_one();
        });
        let ready = shared.0.lock().unwrap();
        drop(shared.1.wait_while(ready, |ready| !*ready).unwrap());
    };
    let report = Checker::new().spurious(2).check(patient);
    assert_eq!(report.verdict, Verdict::Verified);
}
