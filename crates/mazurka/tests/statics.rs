//! Statics of Mazurka's types start with their initial values in each execution.

#![cfg(feature = "statics")]

use mazurka::future::AtomicWaker;
use mazurka::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering::SeqCst};
use mazurka::sync::{
    Arc, Barrier, Condvar, LazyLock, Mutex, Notify, Once, OnceLock, RwLock, Semaphore,
};
use mazurka::{Algorithm, Checker, FailureKind, Report, Verdict, thread};
use std::cell::{Cell, UnsafeCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Waker;

/// Checks that the model was verified in this number of executions.
fn verified(report: &Report, executions: u64) {
    assert_eq!(report.verdict, Verdict::Verified, "{report}");
    assert_eq!(report.executions, executions, "{report}");
}

#[test]
fn a_static_begins_with_its_value_in_every_execution() {
    static COUNT: AtomicUsize = AtomicUsize::new(7);
    let report = Checker::new().check(|| {
        let other = thread::spawn(|| COUNT.fetch_add(1, SeqCst));
        let count = COUNT.fetch_add(1, SeqCst);
        let other = other.join().unwrap();
        assert_eq!((count.min(other), count.max(other)), (7, 8));
        assert_eq!(COUNT.load(SeqCst), 9);
    });
    verified(&report, 2);
}

#[test]
fn a_static_counts_as_many_executions_as_a_local() {
    static SHARED: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];
    fn crossed(shared: &[AtomicUsize; 2]) {
        let seen = thread::scope(|scope| {
            let other = scope.spawn(|| {
                shared[0].store(1, SeqCst);
                shared[1].load(SeqCst)
            });
            let third = scope.spawn(|| shared[0].load(SeqCst));
            shared[1].store(1, SeqCst);
            let value = shared[0].load(SeqCst);
            third.join().unwrap();
            (value, other.join().unwrap())
        });
        assert_ne!(seen, (0, 0));
    }
    for algorithm in Algorithm::general().filter(|algorithm| algorithm.is_optimal()) {
        let checker = || Checker::new().algorithm(algorithm);
        let of_static = checker().check(|| crossed(&SHARED));
        let of_local = checker().check(|| crossed(&[AtomicUsize::new(0), AtomicUsize::new(0)]));
        assert_eq!(of_static.verdict, Verdict::Verified, "{of_static}");
        assert_eq!(of_static.executions, of_local.executions, "{algorithm}");
        assert_eq!(of_static.blocked, of_local.blocked, "{algorithm}");
    }
}

#[test]
fn values_with_destructors_are_dropped_after_each_execution() {
    static NAMES: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let report = Checker::new().check(|| {
        let other = thread::spawn(|| NAMES.lock().unwrap().push("other".to_owned()));
        NAMES.lock().unwrap().push("main".to_owned());
        other.join().unwrap();
        let mut names = NAMES.lock().unwrap().clone();
        names.sort();
        assert_eq!(names, ["main", "other"]);
    });
    verified(&report, 2);
}

#[test]
fn all_that_std_lets_be_a_static_can_be_one() {
    static FLAG: AtomicBool = AtomicBool::new(false);
    static POINTER: AtomicPtr<u32> = AtomicPtr::new(std::ptr::null_mut());
    static LOCK: RwLock<[u32; 2]> = RwLock::new([1, 2]);
    static PAIR: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());
    static ONCE: Once = Once::new();
    static CELL: OnceLock<String> = OnceLock::new();
    static LAZY: LazyLock<Vec<AtomicUsize>> =
        LazyLock::new(|| (0..3).map(AtomicUsize::new).collect());
    static BARRIER: Barrier = Barrier::new(2);
    static PERMITS: Semaphore = Semaphore::new(1);
    static TOKEN: Notify = Notify::new();
    static WAKER: AtomicWaker = AtomicWaker::new();
    fn half(number: usize) {
        ONCE.call_once(|| FLAG.store(true, SeqCst));
        assert!(FLAG.load(SeqCst) && POINTER.load(SeqCst).is_null());
        assert_eq!(*LOCK.read().unwrap(), [1, 2]);
        assert_eq!(CELL.get_or_init(|| "cell".to_owned()), "cell");
        LAZY[number].fetch_add(10, SeqCst);
        BARRIER.wait();
        assert_eq!(LAZY[1 - number].load(SeqCst), 11 - number);
        PERMITS.acquire();
        PERMITS.release();
        if number == 0 {
            TOKEN.notify();
            *PAIR.0.lock().unwrap() = true;
            PAIR.1.notify_one();
            WAKER.register(Waker::noop().clone());
        } else {
            TOKEN.wait();
            let guard = PAIR.0.lock().unwrap();
            drop(PAIR.1.wait_while(guard, |ready| !*ready).unwrap());
            WAKER.wake();
        }
    }
    let report = Checker::new().max_executions(2_000).check(|| {
        let other = thread::spawn(|| half(1));
        half(0);
        other.join().unwrap();
    });
    assert_ne!(report.verdict, Verdict::Bug, "{report}");
}

#[test]
fn models_of_other_threads_do_not_see_the_same_static() {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    static ALL: Mutex<Vec<usize>> = Mutex::new(Vec::new());
    let model = |amount: usize| {
        Checker::new().check(move || {
            let threads = [0, 1].map(|_| {
                thread::spawn(move || {
                    ALL.lock().unwrap().push(COUNT.fetch_add(amount, SeqCst));
                })
            });
            threads
                .into_iter()
                .for_each(|thread| thread.join().unwrap());
            assert_eq!(COUNT.load(SeqCst), 2 * amount);
            assert_eq!(ALL.lock().unwrap().iter().sum::<usize>(), amount);
        })
    };
    let models: Vec<_> = (1..=8)
        .map(|amount| std::thread::spawn(move || (0..50).map(|_| model(amount)).next_back()))
        .collect();
    for model in models {
        verified(&model.join().unwrap().unwrap(), 2);
    }
}

#[test]
fn a_static_outside_a_model_asks_for_one() {
    if cfg!(feature = "enforce") {
        // With this feature the types are real outside of models.
        return;
    }
    static COUNT: AtomicUsize = AtomicUsize::new(3);
    static NAME: Mutex<u32> = Mutex::new(3);
    let uses: [fn(); 2] = [|| assert_eq!(COUNT.load(SeqCst), 3), || drop(NAME.lock())];
    for code in uses {
        let panic = catch_unwind(AssertUnwindSafe(code)).unwrap_err();
        let message = panic.downcast_ref::<&str>().unwrap();
        assert!(message.contains("outside a model: wrap the code in mazurka::model(|| …)"));
    }
    assert_eq!(format!("{COUNT:?}"), "3");
    mazurka::model(|| {
        COUNT.store(4, SeqCst);
        assert_eq!(format!("{COUNT:?}"), "4");
    });
    assert_eq!(format!("{COUNT:?}"), "3");
}

#[test]
fn an_object_created_outside_the_model_and_used_in_it_is_reported() {
    let outside = std::sync::Arc::new(AtomicUsize::new(0));
    let report = Checker::new().check(move || {
        outside.fetch_add(1, SeqCst);
    });
    assert_eq!(report.errors[0].kind, FailureKind::Panic);
    let message = &report.errors[0].message;
    assert!(
        message.contains("created outside the model that uses it: create it in the closure"),
        "{message}"
    );
}

#[test]
fn objects_at_the_same_place_one_after_the_other_are_different_ones() {
    let report = Checker::new().check(|| {
        for round in 0..3 {
            let flag = AtomicUsize::new(round);
            let lock = Mutex::new(round);
            thread::scope(|scope| {
                scope.spawn(|| *lock.lock().unwrap() += flag.load(SeqCst));
            });
            assert_eq!(lock.into_inner().unwrap(), 2 * round);
        }
    });
    verified(&report, 1);
}

#[test]
fn the_first_user_of_an_object_makes_no_difference() {
    for algorithm in Algorithm::general().filter(|algorithm| algorithm.is_optimal()) {
        let report = Checker::new().algorithm(algorithm).check(|| {
            let all = Arc::new([0, 1, 2].map(AtomicUsize::new));
            let threads = [0, 1, 2].map(|index: usize| {
                let all = Arc::clone(&all);
                thread::spawn(move || {
                    let rest = (0..3)
                        .map(|n| all[(index + n) % 3].load(SeqCst))
                        .sum::<usize>();
                    all[index].store(rest, SeqCst);
                })
            });
            threads
                .into_iter()
                .for_each(|thread| thread.join().unwrap());
        });
        assert_eq!(report.blocked, 0, "{algorithm}");
        let eager = Checker::new().algorithm(algorithm).check(|| {
            let all = Arc::new([0, 1, 2].map(AtomicUsize::new));
            assert_eq!(all.iter().map(|one| one.load(SeqCst)).sum::<usize>(), 3);
            let threads = [0, 1, 2].map(|index: usize| {
                let all = Arc::clone(&all);
                thread::spawn(move || {
                    let rest = (0..3)
                        .map(|n| all[(index + n) % 3].load(SeqCst))
                        .sum::<usize>();
                    all[index].store(rest, SeqCst);
                })
            });
            threads
                .into_iter()
                .for_each(|thread| thread.join().unwrap());
        });
        assert_eq!(report.executions, eager.executions, "{algorithm}");
    }
}

#[test]
fn what_is_printed_does_not_move_objects() {
    let report = Checker::new().check(|| {
        println!("an execution begins");
        let flag = Arc::new(AtomicUsize::new(0));
        let other = thread::spawn({
            let flag = Arc::clone(&flag);
            move || {
                println!("{}", "x".repeat(flag.load(SeqCst) * 100));
                let created = Arc::new(AtomicUsize::new(1));
                flag.store(created.load(SeqCst), SeqCst);
            }
        });
        flag.fetch_add(1, SeqCst);
        other.join().unwrap();
    });
    verified(&report, 3);
}

#[test]
fn objects_in_large_memory_have_names_too() {
    let report = Checker::new().check(|| {
        let many: Vec<AtomicUsize> = (0..10_000).map(AtomicUsize::new).collect();
        let many = Arc::new(many);
        let other = thread::spawn({
            let many = Arc::clone(&many);
            move || many[9_999].store(1, SeqCst)
        });
        many[9_999].fetch_add(1, SeqCst);
        assert_eq!(many[5].load(SeqCst), 5);
        other.join().unwrap();
    });
    verified(&report, 2);
}

#[test]
fn initialization_once_per_process_moves_objects_only_in_the_first_execution() {
    static TABLE: std::sync::OnceLock<Vec<u64>> = std::sync::OnceLock::new();
    let report = Checker::new().check(|| {
        assert_eq!(TABLE.get_or_init(|| (0..100).collect()).len(), 100);
        let flag = Arc::new(AtomicUsize::new(0));
        let other = thread::spawn({
            let flag = Arc::clone(&flag);
            move || flag.store(1, SeqCst)
        });
        flag.load(SeqCst);
        other.join().unwrap();
    });
    verified(&report, 2);
}

type Make = fn() -> Vec<u32>;

/// A lazy value as in the crates of users: a state that the model observes, next to plain data.
struct OwnLazy {
    state: AtomicU32,
    make: Cell<Option<Make>>,
    value: UnsafeCell<Option<Vec<u32>>>,
}

// SAFETY: the thread that sets the state to 1 writes the data; others read it once the state is 2.
unsafe impl Sync for OwnLazy {}

impl OwnLazy {
    fn get(&self) -> &[u32] {
        match self.state.compare_exchange(0, 1, SeqCst, SeqCst) {
            Ok(_) => {
                let make = self.make.take().expect("a lazy value is made once");
                let value = make();
                // SAFETY: no other thread accesses the value in this state.
                unsafe { *self.value.get() = Some(value) };
                self.state.store(2, SeqCst);
            }
            Err(_) => {
                while self.state.load(SeqCst) != 2 {
                    mazurka::hint::spin_loop();
                }
            }
        }
        // SAFETY: the value is initialized and no longer changes.
        unsafe { (*self.value.get()).as_deref() }.expect("the value is made")
    }
}

/// Each execution has a separate copy of each static, including all data in it.
#[test]
fn plain_data_next_to_an_object_is_restored() {
    static LAZY: OwnLazy = OwnLazy {
        state: AtomicU32::new(0),
        make: Cell::new(Some(|| vec![7])),
        value: UnsafeCell::new(None),
    };
    for _ in 0..2 {
        let report = Checker::new().check(|| {
            let threads = [1, 2].map(|_| thread::spawn(|| assert_eq!(LAZY.get(), [7])));
            for thread in threads {
                thread.join().unwrap();
            }
        });
        assert_eq!(report.verdict, Verdict::Verified, "{report}");
        assert!(report.executions > 1, "{report}");
    }
}
