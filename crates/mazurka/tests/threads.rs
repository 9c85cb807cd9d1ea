//! Threads: spawn, join, scope, Builder, park, and propagation of panics.

mod outcomes;

use mazurka::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use mazurka::sync::{Arc, Barrier, Mutex, Once, OnceLock};
use mazurka::{Checker, FailureKind, Style, Verdict, thread};
use outcomes::{explored, outcomes};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::time::Duration;

const SOON: Duration = Duration::from_millis(1);

#[test]
fn join_returns_the_value_or_the_panic() {
    mazurka::model(|| {
        assert_eq!(thread::spawn(|| 7).join().unwrap(), 7);
        let payload = thread::spawn(|| panic!("expected {}", std::hint::black_box(1)))
            .join()
            .unwrap_err();
        assert_eq!(payload.downcast_ref::<String>().unwrap(), "expected 1");
    });
}

#[test]
fn a_panic_that_nobody_joins_is_a_bug() {
    let report = Checker::new().check(|| {
        thread::spawn(|| panic!("alone"));
    });
    assert_eq!(report.errors[0].kind, FailureKind::Panic);
    assert!(report.errors[0].message.contains("alone"));
}

#[test]
fn an_observed_panic_is_a_bug_if_asked_for() {
    let report = Checker::new().panics_fail(true).check(|| {
        assert!(thread::spawn(|| panic!("observed")).join().is_err());
    });
    assert_eq!(report.verdict, Verdict::Bug);
    assert!(report.errors[0].message.contains("observed"));
}

#[test]
fn a_caught_panic_is_behaviour() {
    mazurka::model(|| {
        let caught = std::panic::catch_unwind(|| panic!("caught"));
        assert!(caught.is_err());
    });
}

#[test]
fn a_scope_joins_its_threads_and_lends_them_its_variables() {
    let seen = outcomes(|| {
        let count = AtomicU32::new(0);
        let mut local = 1;
        let returned = thread::scope(|scope| {
            let first = scope.spawn(|| count.fetch_add(1, SeqCst));
            scope.spawn(|| {
                count.fetch_add(1, SeqCst);
                local += 1;
                scope.spawn(|| count.fetch_add(1, SeqCst));
            });
            first.join().unwrap()
        });
        assert_eq!((count.load(SeqCst), local), (3, 2));
        returned
    });
    assert_eq!(seen, BTreeSet::from([0, 1, 2]));
}

#[test]
fn a_scope_passes_on_the_panic_of_a_thread_that_was_not_joined() {
    let report = Checker::new().check(|| {
        thread::scope(|scope| {
            scope.spawn(|| panic!("inside"));
        });
    });
    assert_eq!(report.verdict, Verdict::Bug);
    mazurka::model(|| {
        let caught = std::panic::catch_unwind(|| {
            thread::scope(|scope| {
                let handle = scope.spawn(|| panic!("inside"));
                assert!(handle.join().is_err());
            });
        });
        assert!(caught.is_ok());
    });
}

#[test]
fn threads_have_names_and_identities() {
    mazurka::model(|| {
        let main = thread::current().id();
        let handle = thread::Builder::new()
            .name("worker".to_owned())
            .stack_size(1 << 20)
            .spawn(move || {
                assert_eq!(thread::current().name(), Some("worker"));
                assert_ne!(thread::current().id(), main);
                thread::current().id()
            })
            .unwrap();
        assert_eq!(handle.thread().name(), Some("worker"));
        let id = handle.thread().id();
        assert_eq!(handle.join().unwrap(), id);
    });
}

#[test]
fn is_finished_is_false_and_true() {
    let seen = outcomes(|| {
        let handle = thread::spawn(|| ());
        let was_finished = handle.is_finished();
        handle.join().unwrap();
        was_finished
    });
    assert_eq!(seen, BTreeSet::from([false, true]));
}

#[test]
fn park_waits_for_the_token() {
    let report = Checker::new().check(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let waiter = thread::spawn({
            let flag = Arc::clone(&flag);
            move || {
                thread::park();
                assert!(flag.load(SeqCst));
            }
        });
        flag.store(true, SeqCst);
        waiter.thread().unpark();
        waiter.join().unwrap();
    });
    assert_eq!(
        report.verdict,
        Verdict::Verified,
        "{}",
        report.text(Style::default())
    );
    let report = Checker::new().check(thread::park);
    assert_eq!(report.errors[0].kind, FailureKind::Deadlock);
}

#[test]
fn two_tokens_are_one() {
    let report = Checker::new().check(|| {
        let this = thread::current();
        this.unpark();
        this.unpark();
        thread::park();
        thread::park();
    });
    assert_eq!(report.errors[0].kind, FailureKind::Deadlock);
}

#[test]
fn a_timed_park_returns_without_a_token() {
    mazurka::model(|| thread::park_timeout(SOON));
}

#[test]
fn a_barrier_has_one_leader_in_each_round() {
    let seen = outcomes(|| {
        let barrier = Arc::new(Barrier::new(2));
        let other = thread::spawn({
            let barrier = Arc::clone(&barrier);
            move || [barrier.wait().is_leader(), barrier.wait().is_leader()]
        });
        let leads = [barrier.wait().is_leader(), barrier.wait().is_leader()];
        let others = other.join().unwrap();
        assert!(leads.iter().zip(&others).all(|(a, b)| a != b));
        leads
    });
    assert_eq!(
        seen,
        BTreeSet::from([[false, false], [false, true], [true, false], [true, true]])
    );
}

#[test]
fn a_once_runs_once_and_the_others_wait_for_it() {
    let report = Checker::new().check(|| {
        let shared = Arc::new((Once::new(), AtomicU32::new(0)));
        let initialize = |shared: &(Once, AtomicU32)| {
            shared
                .0
                .call_once(|| shared.1.store(shared.1.load(SeqCst) + 1, SeqCst));
            assert_eq!(shared.1.load(SeqCst), 1);
        };
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || initialize(&shared)
        });
        initialize(&shared);
        other.join().unwrap();
        assert!(shared.0.is_completed());
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
fn a_once_is_poisoned_by_a_panic() {
    mazurka::model(|| {
        let once = Arc::new(Once::new());
        let other = thread::spawn({
            let once = Arc::clone(&once);
            move || once.call_once(|| panic!("initializer"))
        });
        assert!(other.join().is_err());
        let caught =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| once.call_once(|| ())));
        assert!(caught.is_err());
        once.call_once_force(|state| assert!(state.is_poisoned()));
        once.call_once(|| unreachable!("it is done"));
    });
}

#[test]
fn a_once_lock_has_one_value() {
    let seen = outcomes(|| {
        let cell = Arc::new(OnceLock::new());
        let other = thread::spawn({
            let cell = Arc::clone(&cell);
            move || *cell.get_or_init(|| 1)
        });
        let before = cell.get().copied();
        let value = *cell.get_or_init(|| 2);
        let others = other.join().unwrap();
        assert_eq!(value, others);
        assert_eq!(cell.set(3), Err(3));
        (before, value)
    });
    assert_eq!(seen, BTreeSet::from([(None, 1), (None, 2), (Some(1), 1)]));
}

#[test]
fn a_hundred_threads_take_turns() {
    let (_, report) = explored(Checker::new().max_executions(50), || {
        let count = Arc::new(Mutex::new(0));
        let threads: Vec<_> = (0..100)
            .map(|_| {
                let count = Arc::clone(&count);
                thread::spawn(move || *count.lock().unwrap() += 1)
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(*count.lock().unwrap(), 100);
    });
    assert_eq!((report.verdict, report.executions), (Verdict::Bounded, 50));
}

#[test]
fn a_thread_that_waits_after_main_is_an_error_unless_allowed() {
    let program = || {
        thread::spawn(thread::park);
    };
    let report = Checker::new().check(program);
    assert_eq!(report.errors[0].kind, FailureKind::Deadlock);
    let report = Checker::new().waiting_after_main(true).check(program);
    assert_eq!(report.verdict, Verdict::Verified);
}

#[test]
fn a_panic_in_a_scope_that_never_ends_is_the_same_failure_when_it_is_repeated() {
    fn threads(panics_first: bool, other: fn()) -> impl Fn() {
        move || {
            thread::scope(|scope| {
                let panics = || {
                    scope.spawn(|| panic!("nobody joins"));
                };
                if panics_first {
                    panics();
                }
                scope.spawn(other);
                if !panics_first {
                    panics();
                }
            });
        }
    }
    let others: [fn(); 3] = [
        || thread::park(),
        || mazurka::assume(false),
        || {
            let never = AtomicU32::new(0);
            while never.load(SeqCst) == 0 {
                thread::yield_now();
            }
        },
    ];
    for panics_first in [true, false] {
        for other in others {
            let report = Checker::new().check(threads(panics_first, other));
            assert_eq!(report.errors[0].kind, FailureKind::Panic);
            let again =
                Checker::new().replay(&report.errors[0].schedule, threads(panics_first, other));
            assert_eq!(again.unwrap().errors[0].kind, FailureKind::Panic);
        }
    }
}

#[test]
fn threads_are_named_by_their_whole_spawn_path() {
    let report = Checker::new().check(|| {
        let outer = thread::spawn(|| thread::spawn(thread::park).join());
        let _ = outer.join();
    });
    let message = &report.errors[0].message;
    assert!(message.contains("T0.0 is parked"), "{message}");
}

/// Either the handle or the thread is the last owner of the result.
#[test]
fn the_result_of_a_thread_is_dropped_by_its_last_owner() {
    struct Order(Arc<AtomicU32>, u32);
    impl Drop for Order {
        fn drop(&mut self) {
            let by_thread = u32::from(thread::current().name().is_none());
            self.0.store(10 * self.1 + by_thread + 1, SeqCst);
        }
    }
    let found = outcomes(|| {
        let number = Arc::new(AtomicU32::new(0));
        let own = Arc::clone(&number);
        drop(thread::spawn(move || Order(own, 0)));
        let joined = Arc::clone(&number);
        thread::spawn(thread::yield_now).join().unwrap();
        u64::from(joined.load(SeqCst))
    });
    assert_eq!(found, BTreeSet::from([0, 1, 2]));
    // The result shares a value, whose last owner may be the thread, too.
    let found = outcomes(|| {
        let number = Arc::new(AtomicU32::new(0));
        let order = Arc::new(Order(Arc::clone(&number), 0));
        let given = Arc::clone(&order);
        drop(thread::spawn(move || given));
        drop(order);
        thread::spawn(thread::yield_now).join().unwrap();
        u64::from(number.load(SeqCst))
    });
    assert_eq!(found, BTreeSet::from([0, 1, 2]));
    let report = Checker::new().check(|| {
        let number = AtomicU32::new(0);
        thread::scope(|scope| {
            let number = &number;
            scope.spawn(move || Track(number));
        });
        assert_eq!(number.load(SeqCst), 1);
    });
    assert_eq!(report.verdict, Verdict::Verified, "{report}");
}

/// Counts how often it is dropped.
struct Track<'a>(&'a AtomicU32);

impl Drop for Track<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[test]
fn values_without_destructors_outlive_the_other_values_of_their_thread() {
    use std::cell::Cell;
    struct Letter(char);
    impl Drop for Letter {
        fn drop(&mut self) {
            DEPTH.set(DEPTH.get() + 1);
            ORDER.lock().unwrap().push((self.0, DEPTH.get()));
        }
    }
    static ORDER: Mutex<Vec<(char, u32)>> = Mutex::new(Vec::new());
    mazurka::thread_local! {
        static DEPTH: Cell<u32> = const { Cell::new(0) };
        static FIRST: Letter = const { Letter('a') };
        static SECOND: Letter = const { Letter('b') };
    }
    let report = Checker::new().check(|| {
        let thread = thread::spawn(|| {
            FIRST.with(|_| ());
            SECOND.with(|_| ());
            DEPTH.set(4);
        });
        thread.join().unwrap();
        assert_eq!(*ORDER.lock().unwrap(), [('b', 5), ('a', 6)]);
    });
    assert_eq!(report.verdict, Verdict::Verified, "{report}");
}

#[test]
fn a_spin_loop_may_ask_for_the_current_thread() {
    let report = Checker::new().check(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let own = Arc::clone(&flag);
        thread::spawn(move || own.store(true, SeqCst));
        while !flag.load(SeqCst) {
            thread::current().id();
            thread::yield_now();
        }
    });
    assert_eq!(report.verdict, Verdict::Verified, "{report}");
}

#[test]
fn a_thread_local_value_is_set_without_its_initializer() {
    mazurka::thread_local! {
        static NUMBER: Cell<u32> = panic!("the initializer runs");
        static LIST: RefCell<Vec<u32>> = panic!("the initializer runs");
    }
    mazurka::model(|| {
        NUMBER.set(3);
        LIST.set(vec![NUMBER.get()]);
        assert_eq!(LIST.take(), [3]);
        NUMBER.set(4);
        assert_eq!(NUMBER.replace(5), 4);
    });
}
