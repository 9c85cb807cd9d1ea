//! Tests that a model survives misbehaving programs.

mod outcomes;

use explore::{Algorithm, Outcome};
use outcomes::{outcomes, outcomes_with};
use report::Conditions;
use runtime::*;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::atomic::Ordering::*;

/// A value that counts the living values of its type.
struct Counted(&'static Cell<i32>);

impl Counted {
    fn new(live: &'static Cell<i32>) -> Counted {
        live.set(live.get() + 1);
        Counted(live)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

fn counter() -> &'static Cell<i32> {
    Box::leak(Box::default())
}

#[test]
fn threads_that_end_drop_their_values_and_abandoned_threads_do_not() {
    let live = counter();
    let found = outcomes(move || {
        let _main = Counted::new(live);
        let locks = Rc::new([Mutex::new(), Mutex::new()]);
        let threads = [(0, 1), (1, 0)].map(|(first, second)| {
            let locks = Rc::clone(&locks);
            spawn(None, move || {
                let _thread = Counted::new(live);
                locks[first].lock();
                let _inner = Box::new(Counted::new(live));
                locks[second].lock();
                assume(first == 0);
                locks[second].unlock();
                locks[first].unlock();
            })
        });
        for thread in threads {
            let _ = join(thread);
        }
    });
    assert_eq!(found, [(Outcome::Halted, 2), (Outcome::Deadlock, 1)]);
    // In the deadlock, 5 values are left: one of `main` and two of each thread. In each of the
    // other two executions, the second thread halts and leaves 2 values, and `main` leaves 1. If
    // the second thread comes first, the first thread waits and leaves 1 more.
    assert_eq!(live.get(), 5 + 3 + 4);
}

#[test]
fn a_thread_that_waits_for_ever_catches_nothing() {
    let caught = counter();
    let found = outcomes(move || {
        let mutex = Mutex::new();
        mutex.lock();
        let _ = catch_unwind(AssertUnwindSafe(|| mutex.lock()));
        caught.set(1);
    });
    assert_eq!(found, [(Outcome::Deadlock, 1)]);
    assert_eq!(caught.get(), 0);
}

#[test]
fn destructors_that_abort_when_they_come_too_early_do_not_run() {
    struct Ends(Rc<Cell<bool>>);
    impl Drop for Ends {
        fn drop(&mut self) {
            if !self.0.get() || std::thread::panicking() {
                std::process::abort();
            }
        }
    }
    let found = outcomes(|| {
        let is_over = Rc::new(Cell::new(false));
        let _ends = Ends(Rc::clone(&is_over));
        let x = Rc::new(Atomic::new(0u32).settled());
        let other = Rc::clone(&x);
        spawn(None, move || other.store(1, SeqCst));
        assume(x.load(SeqCst) == 1);
        is_over.set(true);
    });
    assert_eq!(found, [(Outcome::Halted, 1), (Outcome::Completed, 1)]);
}

#[test]
fn scoped_threads_end_before_what_they_borrow() {
    let found = outcomes(|| {
        let mutex = Mutex::new();
        let value = Box::new(Atomic::new(1u32).settled());
        let threads = Scope::default();
        scope(&threads, || {
            for _ in 0..2 {
                threads.spawn(None, || {
                    mutex.lock();
                    assume(value.load(SeqCst) == 0);
                });
            }
        });
    });
    assert_eq!(found, [(Outcome::Halted, 2)]);
}

#[test]
fn a_scope_that_is_not_open_starts_no_thread() {
    let found = outcomes(|| {
        let threads = Scope::default();
        threads.spawn(None, || unreachable!("the scope was never opened"));
    });
    assert_eq!(found, [(Outcome::Failed, 1)]);
}

#[test]
fn a_thread_that_comes_too_late_for_a_scope_runs_nothing() {
    let found = outcomes(|| {
        let is_over = Cell::new(false);
        let (outer, inner) = (Scope::default(), Scope::default());
        scope(&outer, || {
            outer.spawn(None, || {
                let borrows = || assert!(!is_over.get(), "it runs too late");
                let start = || inner.spawn(None, borrows);
                assume(catch_unwind(AssertUnwindSafe(start)).is_ok());
            });
            scope(&inner, || ());
            is_over.set(true);
        });
    });
    // The main thread continues as long as it can, so the announced spawn takes place after the end
    // of the scope.
    assert_eq!(found, [(Outcome::Halted, 1)]);
}

#[test]
fn overflows_and_aborts_are_survived_again_and_again() {
    #[allow(unconditional_recursion)]
    fn recurse(depth: u64) -> u64 {
        std::hint::black_box(depth) + recurse(depth + 1) + 1
    }
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("in a destructor");
        }
    }
    let found = outcomes(|| {
        let x = Rc::new(Atomic::new(0u32).settled());
        let threads = [0, 1].map(|number| {
            let x = Rc::clone(&x);
            spawn(None, move || {
                x.modify("fetch_add", SeqCst, |x| x + 1);
                if number == 0 {
                    std::hint::black_box(recurse(0));
                } else {
                    let _bomb = Bomb;
                    panic!("first");
                }
            })
        });
        x.modify("fetch_add", SeqCst, |x| x + 1);
        let _ = threads.map(join);
    });
    assert_eq!(found, [(Outcome::Failed, 6)]);
    let after = outcomes(|| {
        let x = Rc::new(Atomic::new(0u32).settled());
        let other = Rc::clone(&x);
        let thread = spawn(None, move || other.store(1, SeqCst));
        x.load(SeqCst);
        join(thread).expect("it does not panic");
    });
    assert_eq!(after, [(Outcome::Completed, 2)]);
}

#[test]
fn an_endless_thread_stops_at_the_bound() {
    let config = Config {
        conditions: Conditions {
            max_events: 50,
            ..Conditions::default()
        },
        ..Config::default()
    };
    let found = outcomes_with(config, Algorithm::Optimal, || {
        let x = Atomic::new(0u64).settled();
        loop {
            x.modify("fetch_add", SeqCst, |x| x + 1);
        }
    });
    assert_eq!(found, [(Outcome::Halted, 1)]);
}

#[test]
fn models_in_several_threads_do_not_disturb_each_other() {
    let explorers: Vec<_> = (0..4)
        .map(|_| {
            std::thread::spawn(|| {
                outcomes(|| {
                    let x = Rc::new(Atomic::new(0u32).settled());
                    let threads = [0, 1, 2].map(|_| {
                        let x = Rc::clone(&x);
                        spawn(None, move || {
                            x.modify("fetch_add", SeqCst, |x| x + 1);
                        })
                    });
                    for thread in threads {
                        join(thread).expect("it does not panic");
                    }
                    assert_eq!(x.load(SeqCst), 3);
                })
            })
        })
        .collect();
    for explorer in explorers {
        assert_eq!(
            explorer.join().expect("it does not panic"),
            [(Outcome::Completed, 6)]
        );
    }
}

#[test]
fn an_operation_outside_a_model_panics_with_advice() {
    let panic = catch_unwind(|| Atomic::new(0u32).settled()).expect_err("there is no model");
    let message = panic.downcast_ref::<&str>().expect("the message is a text");
    assert!(
        message.contains("wrap the code in mazurka::model"),
        "{message}"
    );
}

#[test]
fn a_model_in_a_model_panics_with_advice() {
    let found = outcomes(|| {
        let panic = catch_unwind(|| Model::new(Config::default(), || ()));
        assert!(panic.is_err());
    });
    assert_eq!(found, [(Outcome::Completed, 1)]);
}

#[test]
fn the_panic_of_a_child_is_reported_where_main_unwraps_it() {
    let mut model = Model::new(Config::default(), || {
        let thread = spawn(None, || panic!("the cause"));
        join(thread).unwrap();
    });
    use explore::{Options, explore};
    let mut strategy = Algorithm::Optimal.strategy(Options::default());
    explore(&mut model, &mut strategy, &mut ()).expect("it is deterministic");
    let failure = model.failure().expect("main panics");
    assert!(failure.message.contains("the cause"), "{failure:?}");
}

#[test]
fn what_waits_for_a_lost_thread_is_left() {
    #[allow(unconditional_recursion)]
    fn recurse(depth: u64) -> u64 {
        std::hint::black_box(depth) + recurse(depth + 1) + 1
    }
    let live = counter();
    let found = outcomes(move || {
        let _main = Counted::new(live);
        let threads = Scope::default();
        scope(&threads, || {
            let _inner = Counted::new(live);
            threads.spawn(None, || {
                std::hint::black_box(recurse(0));
            });
        });
    });
    assert_eq!(found, [(Outcome::Failed, 1)]);
    assert_eq!(live.get(), 1);
}
