//! Data races by C11 happens-before.

use mazurka::cell::{MutPtr, UnsafeCell};
use mazurka::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use mazurka::sync::{Arc, Mutex, mpsc};
use mazurka::{Algorithm, Checker, FailureKind, MemoryModel, Report, Style, Verdict, thread};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

/// A cell that is published by a flag.
struct Published {
    value: UnsafeCell<u32>,
    flag: AtomicBool,
}

// SAFETY: the tests check that there is no race.
unsafe impl Sync for Published {}

impl Published {
    fn new() -> Arc<Published> {
        Arc::new(Published {
            value: UnsafeCell::new(0),
            flag: AtomicBool::new(false),
        })
    }

    fn write(&self) {
        // SAFETY: the coroutines of a model never run at the same time.
        self.value.with_mut(|value| unsafe { *value = 42 });
    }

    fn read(&self) -> u32 {
        // SAFETY: as above.
        self.value.with(|value| unsafe { *value })
    }
}

fn publish(store: Ordering, load: Ordering) -> Report {
    Checker::new().check(move || {
        let shared = Published::new();
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                shared.write();
                shared.flag.store(true, store);
            }
        });
        if shared.flag.load(load) {
            assert_eq!(shared.read(), 42);
        }
        other.join().unwrap();
    })
}

fn is_race(report: &Report) -> bool {
    report.verdict == Verdict::Bug && report.errors[0].kind == FailureKind::DataRace
}

/// The count alone does not order the read after the drop. `upgrade` does.
#[test]
fn a_successful_upgrade_comes_after_the_drops_of_other_shares() {
    for upgrades in [true, false] {
        for memory in [MemoryModel::Sc, MemoryModel::Rc11] {
            let report = Checker::new().memory(memory).check(move || {
                let shared = Published::new();
                let weak = Arc::downgrade(&shared);
                let other = thread::spawn({
                    let shared = Arc::clone(&shared);
                    move || shared.write()
                });
                if weak.strong_count() == 1 {
                    let upgraded = upgrades.then(|| weak.upgrade());
                    assert_eq!(shared.read(), 42);
                    drop(upgraded);
                }
                other.join().unwrap();
            });
            assert_eq!(is_race(&report), !upgrades, "{report:?}");
            assert_eq!(report.verdict == Verdict::Verified, upgrades, "{report:?}");
        }
    }
}

#[test]
fn a_race_that_is_met_in_both_orders_is_one() {
    let report = Checker::new().keep_going(true).check(|| {
        let shared = Published::new();
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                shared.flag.store(true, Relaxed);
                shared.write();
            }
        });
        shared.flag.load(Relaxed);
        shared.write();
        other.join().unwrap();
    });
    assert_eq!(report.executions, 2);
    assert_eq!(report.errors.len(), 1, "{report}");
    assert_eq!(report.errors[0].kind, FailureKind::DataRace);
}

#[test]
fn publishing_by_release_and_acquire_is_no_race() {
    for (store, load) in [(Release, Acquire), (SeqCst, SeqCst), (Release, SeqCst)] {
        let report = publish(store, load);
        assert_eq!(
            report.verdict,
            Verdict::Verified,
            "{store:?} {load:?}\n{}",
            report.text(Style::default())
        );
        assert_eq!(report.executions, 2);
    }
}

#[test]
fn publishing_by_a_relaxed_flag_is_a_race() {
    for (store, load) in [(Relaxed, Acquire), (Release, Relaxed), (Relaxed, Relaxed)] {
        assert!(is_race(&publish(store, load)), "{store:?} {load:?}");
    }
}

#[test]
fn fences_publish_a_relaxed_flag() {
    let report = Checker::new().check(|| {
        let shared = Published::new();
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                shared.write();
                fence(Release);
                shared.flag.store(true, Relaxed);
            }
        });
        if shared.flag.load(Relaxed) {
            fence(Acquire);
            assert_eq!(shared.read(), 42);
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
fn unsynchronized_accesses_race() {
    let report = Checker::new().check(|| {
        let shared = Published::new();
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || shared.write()
        });
        shared.read();
        other.join().unwrap();
    });
    assert!(is_race(&report), "{}", report.text(Style::default()));
}

#[test]
fn unsynchronized_reads_do_not_race() {
    let report = Checker::new().check(|| {
        let shared = Published::new();
        shared.write();
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || shared.read()
        });
        shared.read();
        assert_eq!(other.join().unwrap(), 42);
        shared.write();
    });
    assert_eq!(
        report.verdict,
        Verdict::Verified,
        "{}",
        report.text(Style::default())
    );
}

#[test]
fn a_mutex_orders_plain_accesses() {
    let report = Checker::new().check(|| {
        let shared = Arc::new((Published::new(), Mutex::new(())));
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                let _guard = shared.1.lock().unwrap();
                shared.0.write();
            }
        });
        {
            let _guard = shared.1.lock().unwrap();
            shared.0.write();
        }
        other.join().unwrap();
        shared.0.read();
    });
    assert_eq!(
        report.verdict,
        Verdict::Verified,
        "{}",
        report.text(Style::default())
    );
    assert_eq!(report.executions, 2);
}

#[test]
fn a_release_sequence_goes_on_through_a_relaxed_read_modify_write() {
    struct Chain {
        value: UnsafeCell<u32>,
        stage: AtomicUsize,
    }
    // SAFETY: the test checks that there is no race.
    unsafe impl Sync for Chain {}

    let report = Checker::new().check(|| {
        let chain = Arc::new(Chain {
            value: UnsafeCell::new(0),
            stage: AtomicUsize::new(0),
        });
        let writer = thread::spawn({
            let chain = Arc::clone(&chain);
            move || {
                // SAFETY: the coroutines of a model never run at the same time.
                chain.value.with_mut(|value| unsafe { *value = 1 });
                chain.stage.store(1, Release);
            }
        });
        let middle = thread::spawn({
            let chain = Arc::clone(&chain);
            move || chain.stage.compare_exchange(1, 2, Relaxed, Relaxed).is_ok()
        });
        if chain.stage.load(Acquire) == 2 {
            // SAFETY: as above.
            chain.value.with(|value| assert_eq!(unsafe { *value }, 1));
        }
        writer.join().unwrap();
        middle.join().unwrap();
    });
    assert_eq!(
        report.verdict,
        Verdict::Verified,
        "{}",
        report.text(Style::default())
    );
}

#[test]
fn a_counter_orders_the_last_one() {
    // Reference counting as in `Arc`.
    let counted = |decrement: Ordering, acquire: bool| {
        Checker::new().check(move || {
            let shared = Published::new();
            let count = Arc::new(AtomicUsize::new(2));
            let release = move |shared: &Published, count: &AtomicUsize| {
                shared.read();
                if count.fetch_sub(1, decrement) == 1 {
                    if acquire {
                        fence(Acquire);
                    }
                    shared.write();
                }
            };
            let other = thread::spawn({
                let (shared, count) = (Arc::clone(&shared), Arc::clone(&count));
                move || release(&shared, &count)
            });
            release(&shared, &count);
            other.join().unwrap();
        })
    };
    assert_eq!(counted(Release, true).verdict, Verdict::Verified);
    assert_eq!(counted(AcqRel, false).verdict, Verdict::Verified);
    assert!(is_race(&counted(Release, false)));
    assert!(is_race(&counted(Relaxed, true)));
}

#[test]
fn a_value_that_is_raced_for_may_decide_what_is_done() {
    for algorithm in Algorithm::general() {
        let report = Checker::new()
            .algorithm(algorithm)
            .keep_going(true)
            .max_executions(2_000)
            .check(|| {
                let shared = Arc::new((Published::new(), AtomicUsize::new(0), AtomicUsize::new(0)));
                let decide = |shared: &(Arc<Published>, AtomicUsize, AtomicUsize)| {
                    shared.1.fetch_add(1, Relaxed);
                    if shared.0.read() == 42 {
                        shared.2.store(1, Relaxed);
                    } else {
                        shared.2.load(Relaxed);
                        shared.1.store(3, Relaxed);
                    }
                    shared.0.write();
                    shared.1.load(Relaxed);
                };
                let others = [(); 2].map(|()| {
                    let shared = Arc::clone(&shared);
                    thread::spawn(move || decide(&shared))
                });
                decide(&shared);
                for other in others {
                    other.join().unwrap();
                }
            });
        assert!(
            is_race(&report),
            "{algorithm}: {}",
            report.text(Style::default())
        );
    }
}

/// A lock whose guard has a pointer to the value. The guard drops it after releasing the lock.
struct Locked {
    is_held: AtomicBool,
    value: UnsafeCell<u32>,
}

// SAFETY: only the thread that holds the lock has a pointer to the value, except in tested bugs.
unsafe impl Sync for Locked {}

struct Guard<'l> {
    lock: &'l Locked,
    value: MutPtr<u32>,
    /// Whether the guard uses the value again after the lock is released.
    is_late: bool,
}

impl Locked {
    fn lock(&self, is_late: bool) -> Guard<'_> {
        while self.is_held.swap(true, Acquire) {
            mazurka::hint::spin_loop();
        }
        Guard {
            lock: self,
            value: self.value.write_pointer(),
            is_late,
        }
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.lock.is_held.store(false, Release);
        if self.is_late {
            // SAFETY: the memory exists. The race is detected.
            unsafe { *self.value.deref() += 1 };
        }
    }
}

#[test]
fn the_end_of_a_pointer_is_no_access_but_its_uses_are() {
    let check = |is_late| {
        Checker::new().check(move || {
            let lock = Arc::new(Locked {
                is_held: AtomicBool::new(false),
                value: UnsafeCell::new(0),
            });
            let add = move |lock: &Locked| {
                let guard = lock.lock(is_late);
                // SAFETY: the lock is held.
                guard.value.with(|value| unsafe { *value += 1 });
            };
            let other = thread::spawn({
                let lock = Arc::clone(&lock);
                move || add(&lock)
            });
            add(&lock);
            other.join().unwrap();
        })
    };
    let report = check(false);
    assert_eq!(report.verdict, Verdict::Verified, "{report}");
    assert!(is_race(&check(true)));
}

#[test]
fn a_receive_orders_the_send_that_waits_for_its_room() {
    for bound in [0, 1] {
        let report = Checker::new().check(move || {
            let (sender, receiver) = mpsc::sync_channel(bound);
            let shared = Published::new();
            let other = thread::spawn({
                let shared = Arc::clone(&shared);
                move || {
                    shared.write();
                    receiver.recv().unwrap();
                    receiver.iter().for_each(drop);
                }
            });
            for number in 0..=bound {
                sender.send(number).unwrap();
            }
            assert_eq!(shared.read(), 42);
            drop(sender);
            other.join().unwrap();
        });
        assert_eq!(report.verdict, Verdict::Verified, "{report}");
        // A send that finds room is ordered after nothing.
        let report = Checker::new().check(move || {
            let (sender, receiver) = mpsc::sync_channel(bound + 1);
            let shared = Published::new();
            let other = thread::spawn({
                let shared = Arc::clone(&shared);
                move || {
                    shared.write();
                    receiver.iter().for_each(drop);
                }
            });
            sender.send(1).unwrap();
            shared.read();
            drop(sender);
            other.join().unwrap();
        });
        assert_eq!(report.errors[0].kind, FailureKind::DataRace, "{report}");
    }
}
