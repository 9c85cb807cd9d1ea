//! Tests which programs report their state, and which states are equal.

use explore::{
    Algorithm, End, Fingerprint, Interrupt, Options, Outcome, Program, Step, ThreadId, explore,
};
use runtime::{
    Atomic, Config, Model, Opaque, Plain, choose, fence, join, park, report_state, spawn, unpark,
};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::Ordering::SeqCst;

/// Runs the threads in this order, one operation after the other. Returns the fingerprint.
fn after(model: &mut Model, threads: &[u16]) -> Option<Fingerprint> {
    model.step_by_operations();
    model.reset();
    for &thread in threads {
        let step = Step::of(ThreadId(thread));
        model.step(step).expect("the thread is enabled");
    }
    model.fingerprint()
}

/// Returns why there is no fingerprint after these steps.
fn opaque(body: impl Fn() + 'static, threads: &[u16]) -> Option<Opaque> {
    let mut model = Model::new(Config::default(), body);
    let fingerprint = after(&mut model, threads);
    assert_eq!(fingerprint.is_none(), model.opaque().is_some());
    model.opaque()
}

/// A state machine that chooses from one alternative several times.
fn machine(rounds: u32) {
    let round = Rc::new(Cell::new(0));
    let reported = Rc::clone(&round);
    report_state(move || reported.get());
    while round.get() < rounds {
        choose(1);
        round.set(round.get() + 1);
    }
}

#[test]
fn states_do_not_depend_on_the_order_of_independent_steps() {
    let mut model = Model::new(Config::default(), || {
        let threads = [2, 2].map(|rounds| spawn(None, move || machine(rounds)));
        threads.into_iter().for_each(|thread| join(thread).unwrap());
    });
    let one = after(&mut model, &[0, 0, 1, 2]).unwrap();
    assert_eq!(after(&mut model, &[0, 0, 2, 1]), Some(one.clone()));
    assert_eq!(after(&mut model, &[0, 1, 0, 2]), Some(one.clone()));
    assert_ne!(after(&mut model, &[0, 0, 1, 1]), Some(one));
}

#[test]
fn the_main_thread_needs_no_state_to_start_and_join_threads() {
    let only_threads = || drop(join(spawn(None, || machine(1))));
    assert_eq!(opaque(only_threads, &[0, 1]), None);
    // The state of the main thread includes the results of its choices. A fence reports no result,
    // so the state is unknown after it.
    let chooses = || {
        let thread = spawn(None, || machine(1));
        choose(2);
        drop(join(thread));
    };
    assert_eq!(opaque(chooses, &[0, 0]), None);
    let orders = || {
        let thread = spawn(None, || machine(1));
        fence(SeqCst);
        drop(join(thread));
    };
    assert_eq!(opaque(orders, &[0, 0]), Some(Opaque::Main));
}

#[test]
fn threads_and_objects_without_reported_state_are_named() {
    let closure = || {
        let throw = || assert!(choose(2) < 2);
        drop(join(spawn(Some("worker".to_owned()), throw)));
    };
    let worker = Opaque::Thread("worker".to_owned());
    assert_eq!(opaque(closure, &[0]), Some(worker));
    let atomic = || {
        let x = Rc::new(Atomic::new(0u32).settled());
        let thread = spawn(None, move || {
            report_state(|| ());
            x.store(1, SeqCst);
        });
        drop(join(thread));
    };
    assert_eq!(opaque(atomic, &[0]), Some(Opaque::Object));
    let plain = || {
        let _cell = Plain::new();
        drop(join(spawn(None, || machine(1))));
    };
    assert_eq!(opaque(plain, &[0]), Some(Opaque::Object));
    let parks = || {
        let thread = spawn(None, || {
            report_state(|| ());
            park();
        });
        unpark(thread);
        drop(join(thread));
    };
    assert_eq!(opaque(parks, &[0, 0]), Some(Opaque::Object));
}

#[test]
fn what_a_thread_panicked_with_is_a_part_of_the_state() {
    let body = || {
        let thread = spawn(None, || {
            report_state(|| ());
            match choose(2) {
                0 => panic!("zero"),
                _ => panic!("one"),
            }
        });
        drop(join(thread));
    };
    let mut model = Model::new(Config::default(), body);
    model.step_by_operations();
    let [zero, one] = [0, 1].map(|choice| {
        model.reset();
        for step in [
            Step::of(ThreadId::MAIN),
            Step::choosing(ThreadId(1), choice),
        ] {
            model.step(step).expect("the thread is enabled");
        }
        model.fingerprint().expect("all report their states")
    });
    assert_ne!(zero, one);
}

/// The main thread joins the threads in order. At the second join, the main thread waits if the
/// joined thread is the last to end.
#[test]
fn a_state_does_not_depend_on_whether_a_thread_waited() {
    let body = || {
        let threads = [1, 1].map(|rounds| spawn(None, move || machine(rounds)));
        threads.into_iter().for_each(|thread| join(thread).unwrap());
    };
    let mut model = Model::new(Config::default(), body);
    let ends = [[1, 2], [2, 1]].map(|threads| {
        model.reset();
        for thread in threads.map(ThreadId) {
            model.step(Step::of(thread)).expect("the thread is enabled");
        }
        model.fingerprint().expect("all report their states")
    });
    assert_eq!(ends[0], ends[1]);
}

#[test]
fn a_context_sensitive_search_runs_on_coroutines() {
    let body = || {
        let threads = [1, 2].map(|rounds| spawn(None, move || machine(rounds)));
        threads.into_iter().for_each(|thread| join(thread).unwrap());
    };
    let mut model = Model::new(Config::default(), body);
    let mut strategy = Algorithm::ContextSensitive.strategy(Options::default());
    let end = explore(&mut model, &mut strategy, &mut ());
    assert_eq!(
        (end, model.outcome()),
        (Ok(End::Exhausted), Outcome::Completed)
    );
    let mut closure = Model::new(Config::default(), || drop(join(spawn(None, || ()))));
    let mut strategy = Algorithm::ContextSensitive.strategy(Options::default());
    let end = explore(&mut closure, &mut strategy, &mut ());
    assert_eq!(end, Err(Interrupt::Incomparable));
}
