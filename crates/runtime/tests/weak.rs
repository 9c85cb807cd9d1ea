//! Programs with relaxed atomic variables, under the search over execution graphs.

use explore::{Algorithm, MemoryModel, Observer, Options, Outcome, Strategy, explore};
use runtime::{Atomic, Config, Model, PlainCell, join, spawn};
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::atomic::Ordering::{self, Acquire, Relaxed, Release, SeqCst};

/// The number of executions of a search, and how many of them failed.
#[derive(Default, PartialEq, Debug)]
struct Counted {
    executions: u64,
    failed: u64,
}

impl Observer for Counted {
    fn ended(&mut self, outcome: Outcome, _: &dyn Strategy) -> ControlFlow<()> {
        assert!(outcome.is_maximal(), "an execution is blocked");
        self.executions += 1;
        self.failed += u64::from(outcome == Outcome::Failed);
        ControlFlow::Continue(())
    }
}

fn search(memory: MemoryModel, body: impl Fn() + 'static) -> Counted {
    let mut model = Model::new(Config::default(), body);
    let options = Options {
        memory,
        ..Options::default()
    };
    loop {
        let mut counted = Counted::default();
        let mut strategy = Algorithm::Parsimonious.strategy(options);
        match explore(&mut model, &mut strategy, &mut counted) {
            Ok(_) => return counted,
            Err(explore::Interrupt::Coarsened) => {}
            Err(interrupt) => panic!("{interrupt}"),
        }
    }
}

/// Two threads each store to one variable and then load the variable of the other thread.
fn store_buffering(order: Ordering) -> impl Fn() + 'static {
    let load = match order {
        Release => Acquire,
        order => order,
    };
    move || {
        let x = Rc::new(Atomic::new(0_u32).settled());
        let y = Rc::new(Atomic::new(0_u32).settled());
        let result = Rc::new(std::cell::Cell::new(0));
        let (one, other, own) = (Rc::clone(&x), Rc::clone(&y), Rc::clone(&result));
        let thread = spawn(None, move || {
            one.store(1, order);
            own.set(other.load(load));
        });
        y.store(1, order);
        let seen = x.load(load);
        join(thread).unwrap();
        assert!(
            seen + result.get() > 0,
            "both loads read the initial values"
        );
    }
}

#[test]
fn stores_are_buffered_unless_all_accesses_are_sequentially_consistent() {
    for order in [Relaxed, Release] {
        for memory in [MemoryModel::Tso, MemoryModel::Rc11] {
            let counted = search(memory, store_buffering(order));
            assert_eq!((counted.executions, counted.failed), (4, 1), "{memory:?}");
        }
    }
    let counted = search(MemoryModel::Rc11, store_buffering(SeqCst));
    assert_eq!((counted.executions, counted.failed), (3, 0));
    let counted = search(MemoryModel::Sc, store_buffering(Relaxed));
    assert_eq!((counted.executions, counted.failed), (3, 0));
}

/// A thread writes data and then sets a flag. The other thread reads the data if the flag is set.
fn message(store: Ordering, load: Ordering) -> impl Fn() + 'static {
    move || {
        let data = Rc::new(PlainCell::new(0));
        let flag = Rc::new(Atomic::new(false).settled());
        let (written, set) = (Rc::clone(&data), Rc::clone(&flag));
        let thread = spawn(None, move || {
            written.set(1);
            set.store(true, store);
        });
        if flag.load(load) {
            assert_eq!(data.get(), 1);
        }
        join(thread).unwrap();
    }
}

#[test]
fn a_message_is_a_data_race_without_release_and_acquire() {
    let verified = search(MemoryModel::Rc11, message(Release, Acquire));
    assert_eq!((verified.executions, verified.failed), (2, 0));
    for (store, load) in [(Relaxed, Acquire), (Release, Relaxed)] {
        assert_eq!(search(MemoryModel::Rc11, message(store, load)).failed, 1);
    }
}

#[test]
fn a_counter_that_is_incremented_atomically_loses_nothing() {
    let counted = search(MemoryModel::Rc11, || {
        let counter = Rc::new(Atomic::new(0_u64).settled());
        let threads = [0; 2].map(|_| {
            let counter = Rc::clone(&counter);
            spawn(None, move || {
                counter.modify("fetch_add", Relaxed, |old| old + 1);
            })
        });
        counter.modify("fetch_add", Relaxed, |old| old + 1);
        for thread in threads {
            join(thread).unwrap();
        }
        assert_eq!(counter.load(Relaxed), 3);
    });
    assert_eq!((counted.executions, counted.failed), (6, 0));
}

#[test]
fn a_spin_lock_with_a_relaxed_unlock_is_a_data_race() {
    let program = |unlock: Ordering| {
        move || {
            let lock = Rc::new(Atomic::new(false).settled());
            let data = Rc::new(PlainCell::new(0));
            let work = {
                let (lock, data) = (Rc::clone(&lock), Rc::clone(&data));
                move || {
                    while lock
                        .compare_exchange(false, true, Acquire, Relaxed)
                        .is_err()
                    {
                        runtime::hint();
                    }
                    data.set(data.get() + 1);
                    lock.store(false, unlock);
                }
            };
            let thread = spawn(None, work.clone());
            work();
            join(thread).unwrap();
            assert_eq!(data.get(), 2);
        }
    };
    assert_eq!(search(MemoryModel::Rc11, program(Release)).failed, 0);
    assert!(search(MemoryModel::Rc11, program(Relaxed)).failed > 0);
}
