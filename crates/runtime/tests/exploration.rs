//! Explorations of small programs: the number of executions and their outcomes.

mod outcomes;

use explore::{Algorithm, Observer, Options, Outcome, Strategy, explore};
use outcomes::{outcomes, outcomes_with};
use runtime::*;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::atomic::Ordering::*;

fn outcomes_by(algorithm: Algorithm, body: impl Fn() + 'static) -> Vec<(Outcome, u64)> {
    outcomes_with(Config::default(), algorithm, body)
}

#[test]
fn interleavings_of_two_threads_are_counted() {
    let body = || {
        let x = Rc::new(Atomic::new(0u32).settled());
        let threads = [0, 1].map(|_| {
            let x = Rc::clone(&x);
            spawn(None, move || {
                x.modify("fetch_add", SeqCst, |x| x + 1);
                x.modify("fetch_add", SeqCst, |x| x + 1);
            })
        });
        for thread in threads {
            join(thread).expect("it does not panic");
        }
        assert_eq!(x.load(SeqCst), 4);
    };
    assert_eq!(outcomes(body), [(Outcome::Completed, 6)]);
    assert_eq!(
        outcomes_by(Algorithm::Parsimonious, body),
        [(Outcome::Completed, 6)]
    );
}

#[test]
fn a_lost_update_is_found() {
    let found = outcomes(|| {
        let x = Rc::new(Atomic::new(0u32).settled());
        let other = Rc::clone(&x);
        let thread = spawn(None, move || other.store(other.load(SeqCst) + 1, SeqCst));
        x.store(x.load(SeqCst) + 1, SeqCst);
        join(thread).expect("it does not panic");
        assert_eq!(x.load(SeqCst), 2, "an update was lost");
    });
    assert_eq!(
        found
            .iter()
            .map(|&(outcome, _)| outcome)
            .collect::<Vec<_>>(),
        [Outcome::Failed, Outcome::Completed]
    );
}

#[test]
fn locks_in_opposite_order_deadlock() {
    let found = outcomes(|| {
        let locks = Rc::new([Mutex::new(), Mutex::new()]);
        let other = Rc::clone(&locks);
        let thread = spawn(None, move || {
            other[1].lock();
            other[0].lock();
            other[0].unlock();
            other[1].unlock();
        });
        locks[0].lock();
        locks[1].lock();
        locks[1].unlock();
        locks[0].unlock();
        join(thread).expect("it does not panic");
    });
    assert!(found.contains(&(Outcome::Deadlock, 1)), "{found:?}");
    assert!(
        found
            .iter()
            .any(|&(outcome, _)| outcome == Outcome::Completed),
        "{found:?}"
    );
}

#[test]
fn destructors_of_suspended_threads_do_not_run() {
    use std::cell::Cell;
    struct Counted(&'static Cell<i32>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.set(self.0.get() - 1);
        }
    }
    let live: &'static Cell<i32> = Box::leak(Box::new(Cell::new(0)));
    let found = outcomes(move || {
        live.set(live.get() + 1);
        let _counted = Counted(live);
        let mutex = Rc::new(Mutex::new());
        mutex.lock();
        let thread = spawn(None, move || {
            live.set(live.get() + 1);
            let _counted = Counted(live);
            mutex.lock();
        });
        let _ = join(thread);
    });
    assert_eq!(found, [(Outcome::Deadlock, 1)]);
    assert_eq!(live.get(), 2);
}

#[test]
fn a_spin_loop_that_nobody_ends_is_stuck() {
    let found = outcomes(|| {
        let flag = Atomic::new(false).settled();
        while !flag.load(SeqCst) {
            hint();
        }
    });
    assert_eq!(found, [(Outcome::Stuck, 1)]);
}

#[test]
fn a_spin_loop_that_somebody_ends_is_none() {
    let found = outcomes(|| {
        let flag = Rc::new(Atomic::new(false).settled());
        let other = Rc::clone(&flag);
        let thread = spawn(None, move || other.store(true, SeqCst));
        while !flag.load(SeqCst) {
            hint();
        }
        join(thread).expect("it does not panic");
    });
    assert!(
        found
            .iter()
            .all(|&(outcome, _)| matches!(outcome, Outcome::Halted | Outcome::Completed)),
        "{found:?}"
    );
    assert!(
        found
            .iter()
            .any(|&(outcome, _)| outcome == Outcome::Completed),
        "{found:?}"
    );
}

#[test]
fn a_stack_overflow_is_a_failure() {
    #[allow(unconditional_recursion)]
    fn recurse(depth: u64) -> u64 {
        std::hint::black_box(depth) + recurse(depth + 1) + 1
    }
    let found = outcomes(|| {
        let thread = spawn(None, || {
            std::hint::black_box(recurse(0));
        });
        let _ = join(thread);
    });
    assert_eq!(found, [(Outcome::Failed, 1)]);
}

#[test]
fn a_panic_in_a_destructor_during_a_panic_is_a_failure() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("in a destructor");
        }
    }
    let found = outcomes(|| {
        let _bomb = Bomb;
        panic!("first");
    });
    assert_eq!(found, [(Outcome::Failed, 1)]);
}

#[test]
fn a_panic_that_is_joined_is_behaviour() {
    let joined = || {
        let thread = spawn(None, || panic!("expected"));
        assert!(join(thread).is_err());
    };
    assert_eq!(outcomes(joined), [(Outcome::Completed, 1)]);
    let unjoined = || {
        spawn(None, || panic!("unseen"));
    };
    assert_eq!(outcomes(unjoined), [(Outcome::Failed, 1)]);
}

#[test]
fn a_relaxed_publication_is_a_data_race() {
    let publish = |order| {
        move || {
            let flag = Rc::new(Atomic::new(false).settled());
            let data = Rc::new(Plain::new());
            let (other_flag, other_data) = (Rc::clone(&flag), Rc::clone(&data));
            let thread = spawn(None, move || {
                other_data.write();
                other_flag.store(true, order);
            });
            if flag.load(Acquire) {
                data.read();
            }
            join(thread).expect("it does not panic");
        }
    };
    let relaxed = outcomes(publish(Relaxed));
    assert_eq!(relaxed, [(Outcome::Failed, 1), (Outcome::Completed, 1)]);
    let released = outcomes(publish(Release));
    assert_eq!(released, [(Outcome::Completed, 2)]);
}

#[test]
fn a_hundred_threads_and_thousands_of_events_are_run() {
    let found = outcomes(|| {
        let threads: Vec<_> = (0..100)
            .map(|_| {
                let counter = Atomic::new(0u64).settled();
                spawn(None, move || {
                    for _ in 0..50 {
                        counter.modify("fetch_add", Relaxed, |value| value + 1);
                    }
                })
            })
            .collect();
        for thread in threads {
            join(thread).expect("it does not panic");
        }
    });
    assert_eq!(found, [(Outcome::Completed, 1)]);
}

#[test]
fn a_trace_tells_what_happened() {
    let mut model = Model::new(Config::default(), || {
        let x = Rc::new(Atomic::new(0u32).settled());
        let other = Rc::clone(&x);
        let thread = spawn(Some("writer".to_owned()), move || other.store(7, SeqCst));
        assert_eq!(x.load(SeqCst), 0, "seven");
        let _ = join(thread);
    });
    let mut strategy = Algorithm::Optimal.strategy(Options::default());
    struct First(Option<explore::Schedule>);
    impl Observer for First {
        fn ended(&mut self, outcome: Outcome, strategy: &dyn Strategy) -> ControlFlow<()> {
            if outcome == Outcome::Failed {
                self.0 = Some(strategy.execution().schedule());
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        }
    }
    let mut first = First(None);
    explore(&mut model, &mut strategy, &mut first).expect("it is deterministic");
    let schedule = model
        .refine(&first.0.expect("it fails"))
        .expect("it is deterministic");
    let trace = model.trace(&schedule).expect("the schedule fits");
    let failure = trace.failure.clone().expect("it fails");
    assert!(failure.message.contains("seven"), "{failure:?}");
    assert_eq!(trace.interleaving.threads, ["main", "writer"]);
    assert!(
        trace
            .interleaving
            .rows
            .iter()
            .any(|row| row.text.contains(".store(7)")),
        "{trace:?}"
    );
    assert!(
        trace.interleaving.rows.iter().any(|row| row.failed),
        "{trace:?}"
    );
    assert_eq!(trace.interleaving.races.len(), 1);
}
