//! Programs under weak memory models. The verdicts are those of the literature: RC11 (Lahav et al.,
//! PLDI 2017) and x86-TSO (Owens, Sarkar, Sewell, TPHOLs 2009).

use mazurka::cell::UnsafeCell;
use mazurka::sync::Arc;
use mazurka::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use mazurka::sync::atomic::{AtomicBool, AtomicUsize, fence};
use mazurka::{
    Algorithm, CheckError, Checker, MemoryModel, Report, Restart, Style, Verdict, choose, hint,
    thread,
};

fn check(memory: MemoryModel, program: impl Fn() + Send + Sync + 'static) -> Report {
    Checker::new().memory(memory).check(program)
}

#[track_caller]
fn is_found(memory: MemoryModel, program: impl Fn() + Send + Sync + 'static) -> bool {
    let report = check(memory, program);
    let text = report.text(Style::default());
    assert!(report.bounds.is_empty(), "{text}");
    assert_eq!(report.blocked, 0, "{text}");
    match report.verdict {
        Verdict::Bug => true,
        Verdict::Verified => false,
        Verdict::Bounded => panic!("{text}"),
    }
}

/// Variables that threads share, all 0 at first.
type Shared = Arc<[AtomicUsize; 2]>;

/// Runs two threads. Returns their results.
fn both<A: Send + 'static, B>(
    one: impl FnOnce(Shared) -> A + Send + 'static,
    other: impl FnOnce(Shared) -> B,
) -> (A, B) {
    let shared: Shared = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    let thread = thread::spawn({
        let shared = Arc::clone(&shared);
        move || one(shared)
    });
    let second = other(shared);
    (thread.join().unwrap(), second)
}

fn store_buffering(store: Ordering, load: Ordering, between: Option<Ordering>) {
    let side = move |mine: usize| {
        move |shared: Shared| {
            shared[mine].store(1, store);
            if let Some(order) = between {
                fence(order);
            }
            shared[1 - mine].load(load)
        }
    };
    assert_ne!(both(side(0), side(1)), (0, 0), "both loads saw old values");
}

#[test]
fn store_buffering_needs_sequential_consistency() {
    use MemoryModel::{Ra, Rc11, Sc, Tso};
    for (store, load) in [(Relaxed, Relaxed), (Release, Acquire), (SeqCst, Acquire)] {
        assert!(!is_found(Sc, move || store_buffering(store, load, None)));
        assert!(is_found(Rc11, move || store_buffering(store, load, None)));
    }
    assert!(is_found(Tso, || store_buffering(Relaxed, Relaxed, None)));
    assert!(is_found(Ra, || store_buffering(SeqCst, SeqCst, None)));
    for memory in [Tso, Rc11] {
        assert!(!is_found(memory, || store_buffering(SeqCst, SeqCst, None)));
        let fenced = || store_buffering(Relaxed, Relaxed, Some(SeqCst));
        assert!(!is_found(memory, fenced));
        let fenced = || store_buffering(Relaxed, Relaxed, Some(AcqRel));
        assert!(is_found(memory, fenced));
    }
}

#[test]
fn load_buffering_is_forbidden() {
    for memory in MemoryModel::ALL {
        let found = is_found(memory, || {
            let side = |mine: usize| {
                move |shared: Shared| {
                    let seen = shared[mine].load(Relaxed);
                    shared[1 - mine].store(1, Relaxed);
                    seen
                }
            };
            assert_ne!(both(side(0), side(1)), (1, 1));
        });
        assert!(!found, "{memory}");
    }
}

fn message_passing(store: Ordering, load: Ordering) {
    let (_, seen) = both(
        move |shared: Shared| {
            shared[0].store(1, Relaxed);
            shared[1].store(1, store);
        },
        move |shared: Shared| (shared[1].load(load), shared[0].load(Relaxed)),
    );
    assert_ne!(seen, (1, 0), "the flag was seen, but not the message");
}

#[test]
fn a_message_needs_release_and_acquire() {
    for (store, load, is_weak) in [
        (Relaxed, Relaxed, true),
        (Release, Relaxed, true),
        (Relaxed, Acquire, true),
        (Release, Acquire, false),
        (SeqCst, SeqCst, false),
    ] {
        let program = move || message_passing(store, load);
        assert_eq!(is_found(MemoryModel::Rc11, program), is_weak);
        assert!(!is_found(MemoryModel::Tso, program));
        assert!(!is_found(MemoryModel::Ra, program));
        assert!(!is_found(MemoryModel::Sc, program));
    }
}

/// Two writers, and two readers that see the writes in different orders.
fn independent_reads(order: Ordering, load: Ordering) {
    let shared: Shared = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    let spawn = |body: fn(&Shared, Ordering) -> (usize, usize), order| {
        let shared = Arc::clone(&shared);
        thread::spawn(move || body(&shared, order))
    };
    let writers = [
        spawn(|shared, order| (shared[0].store(1, order), (0, 0)).1, order),
        spawn(|shared, order| (shared[1].store(1, order), (0, 0)).1, order),
    ];
    let one = spawn(
        |shared, load| (shared[0].load(load), shared[1].load(load)),
        load,
    );
    let other = (shared[1].load(load), shared[0].load(load));
    let one = one.join().unwrap();
    for writer in writers {
        writer.join().unwrap();
    }
    assert!((one, other) != ((1, 0), (1, 0)), "the readers disagree");
}

#[test]
fn readers_agree_on_the_order_of_sequentially_consistent_writes_only() {
    assert!(is_found(MemoryModel::Rc11, || independent_reads(
        Release, Acquire
    )));
    assert!(is_found(MemoryModel::Ra, || independent_reads(
        SeqCst, SeqCst
    )));
    assert!(!is_found(MemoryModel::Rc11, || independent_reads(
        SeqCst, SeqCst
    )));
    assert!(!is_found(MemoryModel::Tso, || independent_reads(
        Relaxed, Relaxed
    )));
}

/// A spin lock made of an atomic flag. It protects a value in an `UnsafeCell`.
struct SpinLock {
    is_taken: AtomicBool,
    value: UnsafeCell<u32>,
}

// SAFETY: the value is accessed under the lock only. The checker looks for violations.
unsafe impl Sync for SpinLock {}

fn spin_lock(unlock: Ordering) {
    let lock = Arc::new(SpinLock {
        is_taken: AtomicBool::new(false),
        value: UnsafeCell::new(0),
    });
    let work = move |lock: &SpinLock| {
        while lock.is_taken.swap(true, Acquire) {
            hint::spin_loop();
        }
        lock.value.with_mut(|value| {
            // SAFETY: the lock is held.
            unsafe { *value += 1 }
        });
        lock.is_taken.store(false, unlock);
    };
    let thread = thread::spawn({
        let lock = Arc::clone(&lock);
        move || work(&lock)
    });
    work(&lock);
    thread.join().unwrap();
}

#[test]
fn a_relaxed_unlock_is_a_data_race() {
    assert!(!is_found(MemoryModel::Rc11, || spin_lock(Release)));
    let report = check(MemoryModel::Rc11, || spin_lock(Relaxed));
    assert_eq!(report.verdict, Verdict::Bug);
    assert!(report.errors[0].message.contains("data race"));
}

/// A reference count whose last owner frees the value.
fn reference_count(fences: bool) {
    struct Counted {
        owners: AtomicUsize,
        value: UnsafeCell<u32>,
    }
    // SAFETY: only the last owner accesses the value. The checker looks for violations.
    unsafe impl Sync for Counted {}
    let counted = Arc::new(Counted {
        owners: AtomicUsize::new(2),
        value: UnsafeCell::new(1),
    });
    let drop_one = move |counted: &Counted| {
        counted.value.with(|_| ());
        if counted.owners.fetch_sub(1, Release) == 1 {
            if fences {
                fence(Acquire);
            }
            counted.value.with_mut(|value| {
                // SAFETY: this is the last owner.
                unsafe { *value = 0 }
            });
        }
    };
    let thread = thread::spawn({
        let counted = Arc::clone(&counted);
        move || drop_one(&counted)
    });
    drop_one(&counted);
    thread.join().unwrap();
}

#[test]
fn freeing_without_an_acquire_fence_is_a_data_race() {
    assert!(!is_found(MemoryModel::Rc11, || reference_count(true)));
    assert!(is_found(MemoryModel::Rc11, || reference_count(false)));
}

/// Mutual exclusion by two flags (Dekker), without a turn: a thread enters if the flag of the other
/// is not set.
fn dekker(order: Ordering) {
    let load = if order == Release { Acquire } else { order };
    let side = move |mine: usize| {
        move |shared: Shared| {
            shared[mine].store(1, order);
            shared[1 - mine].load(load) == 0
        }
    };
    assert_ne!(both(side(0), side(1)), (true, true), "both have entered");
}

#[test]
fn dekkers_flags_need_sequential_consistency() {
    assert!(is_found(MemoryModel::Rc11, || dekker(Release)));
    assert!(!is_found(MemoryModel::Rc11, || dekker(SeqCst)));
}

/// A reader that waits for a flag, however often it sees the old value.
#[test]
fn a_loop_that_waits_ends() {
    for order in [(Relaxed, Relaxed), (Release, Acquire)] {
        let report = check(MemoryModel::Rc11, move || {
            both(
                move |shared: Shared| shared[0].store(1, order.0),
                move |shared: Shared| {
                    while shared[0].load(order.1) == 0 {
                        hint::spin_loop();
                    }
                },
            );
        });
        assert_eq!(
            report.verdict,
            Verdict::Verified,
            "{}",
            report.text(Style::default())
        );
    }
}

#[test]
fn locks_and_channels_synchronize() {
    let report = check(MemoryModel::Rc11, || {
        let value = Arc::new(mazurka::sync::Mutex::new(0));
        let (sender, receiver) = mazurka::sync::mpsc::channel();
        let thread = thread::spawn({
            let value = Arc::clone(&value);
            move || {
                *value.lock().unwrap() += 1;
                sender.send(1).unwrap();
            }
        });
        *value.lock().unwrap() += 1;
        assert_eq!(receiver.recv(), Ok(1));
        thread.join().unwrap();
        assert_eq!(*value.lock().unwrap(), 2);
    });
    assert_eq!((report.verdict, report.executions), (Verdict::Verified, 2));
}

#[test]
fn a_schedule_repeats_what_was_read() {
    let program = || message_passing(Relaxed, Relaxed);
    let report = check(MemoryModel::Rc11, program);
    let schedule = &report.errors[0].schedule;
    let text = schedule.to_json();
    let schedule = mazurka::ScheduleFile::from_json(&text).unwrap();
    let replayed = Checker::new().replay(&schedule, program).unwrap();
    assert_eq!(replayed.verdict, Verdict::Bug);
    assert_eq!(replayed.memory, MemoryModel::Rc11);
    assert_eq!(replayed.errors[0].message, report.errors[0].message);
    let shown = report.text(Style::default());
    assert!(shown.contains("an old value"), "{shown}");
    assert!(shown.contains("does not see"), "{shown}");
    println!("{shown}");
}

#[test]
fn a_search_is_resumed() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("search");
    let program = || independent_reads(Release, Acquire);
    let keeps = || Checker::new().memory(MemoryModel::Rc11).keep_going(true);
    let whole = keeps().check(program);
    let first = keeps().max_executions(3).checkpoint(&file).check(program);
    assert_eq!(first.executions, 3);
    let both = keeps().resume(&file).check(program);
    assert_eq!(both.executions, whole.executions);
    let other = Checker::new()
        .keep_going(true)
        .resume(&file)
        .try_check(program);
    assert!(
        matches!(other, Err(CheckError::ForeignCheckpoint { .. })),
        "{other:?}"
    );
}

#[test]
fn the_verdict_names_the_model() {
    let report = check(MemoryModel::Rc11, || message_passing(Release, Acquire));
    let text = report.text(Style::default());
    assert!(
        text.starts_with("verified under RC11: no execution"),
        "{text}"
    );
    assert!(text.contains("execution graphs"), "{text}");
    assert_eq!(serde_json::to_value(&report).unwrap()["memory"], "rc11");
}

#[test]
fn what_needs_interleavings_is_refused() {
    let weak = || Checker::new().memory(MemoryModel::Rc11);
    for checker in [
        weak().algorithm(mazurka::Algorithm::Optimal),
        weak().algorithm(mazurka::Algorithm::Pct),
        weak().preemptions(2),
    ] {
        let result = checker.try_check(|| ());
        assert!(matches!(result, Err(CheckError::Contradiction(_))));
    }
}

#[test]
fn a_random_walk_reads_old_values() {
    let walk = |memory| {
        let checker = Checker::new().algorithm(Algorithm::Random);
        checker.memory(memory).max_executions(1_000)
    };
    for memory in [MemoryModel::Auto, MemoryModel::Rc11] {
        let program = || message_passing(Relaxed, Relaxed);
        let report = walk(memory).check(program);
        assert_eq!(report.verdict, Verdict::Bug, "{report}");
        assert_eq!(report.memory, MemoryModel::Rc11, "{report}");
        let replayed = Checker::new().replay(&report.errors[0].schedule, program);
        assert_eq!(replayed.unwrap().verdict, Verdict::Bug);
        let report = walk(memory).check(|| message_passing(Release, Acquire));
        assert_eq!(report.verdict, Verdict::Bounded, "{report}");
    }
}

#[mazurka::test(memory = "rc11", fails = "the flag was seen")]
fn a_test_chooses_the_model() {
    message_passing(Relaxed, Relaxed);
}

/// By default, a search uses RC11 if threads share an object that is accessed with an ordering
/// weaker than `SeqCst`, and sequential consistency otherwise.
#[test]
fn the_search_chooses_the_model() {
    let chosen = |report: &Report| (report.memory, report.weak_ordering.is_some());
    for jobs in [1, 2] {
        let auto = |program: fn()| Checker::new().jobs(jobs).check(program);
        let report = auto(|| message_passing(Relaxed, Relaxed));
        assert_eq!(chosen(&report), (MemoryModel::Rc11, true), "{report}");
        assert_eq!(report.verdict, Verdict::Bug, "{report}");
        assert!(report.errors[0].schedule.conditions.memory == MemoryModel::Rc11);

        let report = auto(|| message_passing(Release, Acquire));
        assert_eq!(chosen(&report), (MemoryModel::Rc11, true), "{report}");
        assert_eq!(report.verdict, Verdict::Verified, "{report}");
        let rc11 = check(MemoryModel::Rc11, || message_passing(Release, Acquire));
        assert_eq!(report.executions, rc11.executions, "{report}");
        assert!(report.to_string().contains("because the ordering at"));

        let report = auto(|| store_buffering(SeqCst, SeqCst, None));
        assert_eq!(chosen(&report), (MemoryModel::Sc, false), "{report}");
        assert!(
            !report.restarts.contains_key(&Restart::WeakOrdering),
            "{report}"
        );

        // The relaxed counter belongs to one thread.
        let report = auto(|| {
            let counter = AtomicUsize::new(0);
            counter.fetch_add(1, Relaxed);
            store_buffering(SeqCst, SeqCst, None);
            counter.fetch_add(1, Relaxed);
        });
        assert_eq!(chosen(&report), (MemoryModel::Sc, false), "{report}");
    }
}

/// The search changes to RC11 even if only some executions reach the weak ordering, or if it is the
/// failure ordering of a compare-exchange.
#[test]
fn a_late_weak_ordering_counts() {
    let late = || {
        let (seen, _) = both(
            |shared| shared[0].load(SeqCst) == 1 && shared[1].load(Relaxed) == 0,
            |shared| {
                shared[1].store(1, SeqCst);
                shared[0].store(1, SeqCst);
            },
        );
        assert!(!seen);
    };
    let report = Checker::new().check(late);
    assert_eq!(report.memory, MemoryModel::Rc11, "{report}");
    let exchange = || {
        let (found, _) = both(
            |shared| shared[0].compare_exchange(5, 6, SeqCst, Relaxed),
            |shared| shared[0].store(1, SeqCst),
        );
        assert!(found.is_err());
    };
    let report = Checker::new().check(exchange);
    assert_eq!(report.memory, MemoryModel::Rc11, "{report}");
}

#[test]
fn a_bound_on_preemptions_does_not_prevent_a_replay() {
    let model = || message_passing(Relaxed, Relaxed);
    let found = Checker::new().check(model);
    let again = Checker::new().preemptions(2);
    let again = again.replay(&found.errors[0].schedule, model).unwrap();
    assert_eq!(again.errors[0].message, found.errors[0].message);
}

#[test]
fn searches_for_sequential_consistency_warn() {
    for checker in [
        Checker::new().algorithm(Algorithm::Optimal),
        Checker::new().preemptions(2),
    ] {
        let report = checker.check(|| message_passing(Relaxed, Relaxed));
        assert_eq!(report.memory, MemoryModel::Sc, "{report}");
        let text = report.to_string();
        assert!(
            text.starts_with("verified under sequential consistency: no interleaving"),
            "{text}"
        );
        assert!(
            report
                .warnings
                .iter()
                .any(|warning| warning.contains("is not sequentially consistent")),
            "{report}"
        );
    }
}

/// Checks whether an object orders memory. One thread stores a value with a relaxed ordering and
/// then calls `gives` on the object. If `takes` returns true on the object, main reads the value.
/// Returns whether main can miss the value.
fn is_missed<T: Send + Sync + 'static>(
    object: fn() -> T,
    gives: fn(&T),
    takes: fn(&T) -> bool,
) -> bool {
    is_found(MemoryModel::Rc11, move || {
        let shared = Arc::new((AtomicUsize::new(0), object()));
        let thread = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                shared.0.store(1, Relaxed);
                gives(&shared.1);
            }
        });
        if takes(&shared.1) {
            assert_eq!(shared.0.load(Relaxed), 1, "the value is missed");
        }
        thread.join().unwrap();
    })
}

#[test]
fn what_takes_from_an_object_follows_what_gave() {
    use mazurka::sync::{Mutex, OnceLock, RwLock, Semaphore, mpsc};
    use std::time::Duration;
    const LATE: Duration = Duration::from_secs(1);
    let mutex = || Mutex::new(0);
    let sets = |mutex: &Mutex<i32>| *mutex.lock().unwrap() = 1;
    assert!(!is_missed(mutex, sets, |mutex| *mutex.lock().unwrap() == 1));
    assert!(!is_missed(mutex, sets, |mutex| {
        mutex.try_lock().is_ok_and(|value| *value == 1)
    }));
    let lock = || RwLock::new(0);
    let sets = |lock: &RwLock<i32>| *lock.write().unwrap() = 1;
    assert!(!is_missed(lock, sets, |lock| *lock.read().unwrap() == 1));
    assert!(!is_missed(lock, sets, |lock| {
        lock.try_read().is_ok_and(|value| *value == 1)
    }));
    assert!(!is_missed(lock, sets, |lock| {
        lock.try_write().is_ok_and(|value| *value == 1)
    }));
    let once = OnceLock::<i32>::new;
    let sets = |once: &OnceLock<i32>| assert!(once.set(1).is_ok());
    assert!(!is_missed(once, sets, |once| once.get().is_some()));
    let semaphore = || Semaphore::new(0);
    let adds = |semaphore: &Semaphore| semaphore.release();
    assert!(!is_missed(semaphore, adds, |semaphore| {
        semaphore.acquire();
        true
    }));
    assert!(!is_missed(semaphore, adds, Semaphore::try_acquire));
    let channel = || {
        let (sender, receiver) = mpsc::channel::<i32>();
        (sender, Mutex::new(receiver))
    };
    type Channel = (mpsc::Sender<i32>, Mutex<mpsc::Receiver<i32>>);
    let sends = |channel: &Channel| channel.0.send(1).unwrap();
    assert!(!is_missed(channel, sends, |channel| {
        channel.1.lock().unwrap().recv().is_ok()
    }));
    assert!(!is_missed(channel, sends, |channel| {
        channel.1.lock().unwrap().try_recv().is_ok()
    }));
    assert!(!is_missed(channel, sends, |channel| {
        channel.1.lock().unwrap().recv_timeout(LATE).is_ok()
    }));
}

/// All unparks that merge into a token come before the park that takes it.
#[test]
fn a_park_follows_all_merged_unparks() {
    let missed = is_found(MemoryModel::Rc11, || {
        let (value, count) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let main = thread::current();
        let threads = [0, 1].map(|number| {
            let (value, count, main) = (Arc::clone(&value), Arc::clone(&count), main.clone());
            thread::spawn(move || {
                if number == 0 {
                    value.store(1, Relaxed);
                }
                main.unpark();
                count.fetch_add(1, Relaxed);
            })
        });
        thread::park();
        let both = count.load(Relaxed) == 2;
        thread::park_timeout(std::time::Duration::from_secs(1));
        // If both threads have unparked before the last park, that park happens after both unparks.
        if both {
            assert_eq!(value.load(Relaxed), 1, "the value is missed");
        }
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
    });
    assert!(!missed);
}

/// As in `std`, counts of owners order nothing, but taking the last share does.
#[test]
fn only_the_last_owner_follows_the_other_owners() {
    let shared = |takes: fn(&mut Arc<AtomicUsize>) -> bool| {
        is_found(MemoryModel::Rc11, move || {
            let mut value = Arc::new(AtomicUsize::new(0));
            let thread = thread::spawn({
                let value = Arc::clone(&value);
                move || value.store(1, Relaxed)
            });
            if takes(&mut value) {
                assert_eq!(value.load(Relaxed), 1, "the value is missed");
            }
            thread.join().unwrap();
        })
    };
    assert!(shared(|value| Arc::strong_count(value) == 1));
    assert!(!shared(|value| Arc::get_mut(value).is_some()));
}

/// A schedule file may name any event as the source of a read. A source that did not write the
/// object is refused.
#[test]
fn a_schedule_with_an_unfit_source_is_refused() {
    let program = || message_passing(Relaxed, Relaxed);
    let found = check(MemoryModel::Rc11, program);
    let schedule = &found.errors[0].schedule;
    for code in [2, 3, 4, 5, 6, 7, 8, 9, 1 << 20, u32::MAX] {
        for run in 0..schedule.steps.len() {
            for step in 0..schedule.steps[run].reads.len() {
                let mut altered = schedule.clone();
                altered.steps[run].reads[step] = code;
                // The altered schedule is either valid or refused with this message.
                if let Err(error) = Checker::new().replay(&altered, program) {
                    assert!(error.to_string().contains("does not fit"), "{error}");
                }
            }
        }
    }
    let mut altered = schedule.clone();
    altered
        .steps
        .iter_mut()
        .for_each(|run| run.reads = vec![u32::MAX; run.choices.len()]);
    assert!(Checker::new().replay(&altered, program).is_err());
}

/// Returns the written and the needed ordering for each change of the repair, or `None` if no
/// repair was found.
fn repair(program: fn()) -> Option<Vec<(String, String)>> {
    let checker = Checker::new().memory(MemoryModel::Rc11);
    let report = checker.explain(true).check(program);
    assert_eq!(report.verdict, Verdict::Bug, "{report}");
    let repair = report.errors[0].repair.clone()?;
    assert!(
        repair
            .orderings
            .iter()
            .all(|stronger| stronger.location.contains(".rs:"))
    );
    let orderings = repair.orderings.into_iter();
    Some(
        orderings
            .map(|stronger| (stronger.is, stronger.needs))
            .collect(),
    )
}

#[test]
fn the_weakest_orderings_that_prevent_a_failure_are_found() {
    let needs = |all: &[(&str, &str)]| {
        let owned = |&(is, needs): &(&str, &str)| (is.to_owned(), needs.to_owned());
        Some(all.iter().map(owned).collect::<Vec<_>>())
    };
    assert_eq!(
        repair(|| message_passing(Relaxed, Relaxed)),
        needs(&[("Relaxed", "Release"), ("Relaxed", "Acquire")])
    );
    assert_eq!(
        repair(|| message_passing(Relaxed, Acquire)),
        needs(&[("Relaxed", "Release")])
    );
    let all = repair(|| store_buffering(Release, Acquire, None)).unwrap();
    assert!(
        !all.is_empty() && all.iter().all(|(_, needs)| needs == "SeqCst"),
        "{all:?}"
    );
    // Only the fences are too weak. The accesses may stay relaxed.
    let fences = repair(|| store_buffering(Relaxed, Relaxed, Some(AcqRel))).unwrap();
    assert!(
        fences.iter().all(|(_, needs)| needs == "SeqCst"),
        "{fences:?}"
    );
    // No ordering prevents this failure.
    assert_eq!(
        repair(|| {
            let (seen, _) = both(
                |shared| shared[0].load(Relaxed),
                |shared| shared[0].store(1, Relaxed),
            );
            assert_eq!(seen, 0);
        }),
        needs(&[])
    );
}

/// A compare-exchange that fails reads with its failure ordering only.
#[test]
fn the_ordering_on_failure_is_one_of_its_own() {
    let found = repair(|| {
        both(
            |shared| {
                shared[0].store(1, Relaxed);
                shared[1].store(1, Release);
            },
            |shared| {
                if shared[1].compare_exchange(5, 2, Acquire, Relaxed) == Err(1) {
                    assert_eq!(shared[0].load(Relaxed), 1, "the message is missed");
                }
            },
        );
    });
    let needed = ("Relaxed".to_owned(), "Acquire".to_owned());
    assert_eq!(found, Some(vec![needed]));
}

/// The parts of a random search have the memory model that the search has chosen.
#[test]
fn a_random_walk_is_divided_after_it_has_chosen_the_model() {
    let walk = Checker::new().algorithm(Algorithm::Random);
    let walk = walk.max_executions(2_000).jobs(2);
    let report = walk.check(|| message_passing(Release, Acquire));
    assert_eq!(report.memory, MemoryModel::Rc11, "{report}");
    assert_eq!(report.verdict, Verdict::Bounded, "{report}");
    assert!(report.executions > 0, "{report}");
}

/// To find a repair, the checker searches the program with other orderings. Such a search starts
/// again if it finds loops, or if objects become coarser (more of their operations count as
/// dependent).
#[test]
fn the_orderings_of_a_spin_lock_are_found() {
    let found = repair(|| {
        let adds = |shared: Shared| {
            while shared[0].compare_exchange(0, 1, Relaxed, Relaxed).is_err() {
                mazurka::hint::spin_loop();
            }
            let count = shared[1].load(Relaxed);
            shared[1].store(count + 1, Relaxed);
            shared[0].store(0, Relaxed);
            count
        };
        let seen = both(adds, adds);
        assert_ne!(seen, (0, 0), "an increment is lost");
    });
    let needed = ["Acquire", "Release"].map(|needs| ("Relaxed".to_owned(), needs.to_owned()));
    assert_eq!(found, Some(needed.to_vec()));
}

/// The second store of 1 seems to change nothing, unless the store of 2 is placed before it.
#[test]
fn a_loop_that_stores_a_value_again_hides_no_failure() {
    let program = || {
        let (_, [before, after]) = both(
            |shared| {
                while shared[0].load(Relaxed) == 0 {
                    shared[1].store(1, Relaxed);
                    hint::spin_loop();
                }
            },
            |shared| {
                let before = shared[1].load(Relaxed);
                shared[1].store(2, Relaxed);
                let after = shared[1].load(Relaxed);
                shared[0].store(1, Relaxed);
                [before, after]
            },
        );
        assert_ne!([before, after], [1, 1]);
    };
    for memory in [MemoryModel::Sc, MemoryModel::Auto] {
        let report = check(memory, program);
        assert_eq!(report.verdict, Verdict::Bug, "{report}");
        assert_eq!(report.memory, MemoryModel::Sc, "{report}");
    }
    for memory in [MemoryModel::Tso, MemoryModel::Rc11] {
        let report = check(memory, program);
        let text = report.text(Style::default());
        assert!(
            text.contains("loops that store the same value again"),
            "{text}"
        );
    }
}

#[test]
fn a_choice_drains_no_store_buffer() {
    assert!(is_found(MemoryModel::Tso, || {
        let side = |mine: usize| {
            move |shared: Shared| {
                shared[mine].store(1, Relaxed);
                choose(2);
                shared[1 - mine].load(Relaxed)
            }
        };
        assert_ne!(both(side(0), side(1)), (0, 0));
    }));
}

/// The report shows that a store precedes, in coherence order, a store that was performed earlier.
/// A read is stale only if a newer value exists.
#[test]
fn the_order_of_stores_is_shown() {
    let report = check(MemoryModel::Rc11, || {
        let side = |mine: usize| {
            move |shared: Shared| {
                shared[mine].store(1, Relaxed);
                shared[1 - mine].store(2, Relaxed);
                shared
            }
        };
        let (shared, _) = both(side(0), side(1));
        assert!([0, 1].iter().any(|&index| shared[index].load(Relaxed) != 1));
    });
    let text = report.text(Style::default());
    assert!(text.contains("(already overwritten)"), "{text}");
    assert!(!text.contains("does not see"), "{text}");
}

/// An exclusive owner changes the value to `5` through a reference, after another thread has
/// written `1` and `2`.
fn write_through_a_reference(
    order: Ordering,
    write: fn(&mut AtomicUsize),
    check: fn(&AtomicUsize),
) -> impl Fn() + Send + Sync + Clone {
    move || {
        let mut number = AtomicUsize::new(0);
        let seen = thread::scope(|scope| {
            scope.spawn(|| {
                number.store(1, order);
                number.fetch_add(1, order);
            });
            number.load(order)
        });
        write(&mut number);
        check(&number);
        thread::scope(|scope| {
            scope.spawn(|| check(&number));
            check(&number);
        });
        assert_eq!(number.fetch_add(seen, order), 5);
        assert_eq!(number.load(order), 5 + seen);
        assert_eq!(number.into_inner(), 5 + seen);
    }
}

#[test]
fn writes_by_an_exclusive_owner_are_seen() {
    let writes: [fn(&mut AtomicUsize); 2] = [
        |number| *number.get_mut() = 5,
        |number| number.with_mut(|number| *number += 3),
    ];
    let checks: [fn(&AtomicUsize); 2] = [
        |number| assert_eq!(number.load(Relaxed), 5),
        |number| assert!(number.compare_exchange(5, 5, Relaxed, Relaxed).is_ok()),
    ];
    for write in writes {
        for seen in checks {
            for (memory, order) in [
                (MemoryModel::Sc, SeqCst),
                (MemoryModel::Tso, SeqCst),
                (MemoryModel::Rc11, Relaxed),
                (MemoryModel::Auto, Relaxed),
            ] {
                let program = write_through_a_reference(order, write, seen);
                assert!(!is_found(memory, program), "{memory}");
            }
        }
    }
    // The value is 5 after the write, so the assertion of `never` fails.
    let never: fn(&AtomicUsize) = |number| assert_ne!(number.load(Relaxed), 5);
    for memory in [MemoryModel::Tso, MemoryModel::Rc11, MemoryModel::Auto] {
        assert!(is_found(
            memory,
            write_through_a_reference(Relaxed, writes[0], never)
        ));
    }
}
