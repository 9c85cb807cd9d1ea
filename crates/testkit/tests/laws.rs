//! Tests the laws on programs that once broke a law, and on random programs. `MAZURKA_SEED` repeats
//! a run.

use explore::Algorithm;
use std::time::{SystemTime, UNIX_EPOCH};
use testkit::law::{Effort, check, symmetry};
use testkit::random::Random;
use testkit::suite::SUITES;
use testkit::{Oracle, Program};

/// Programs that expose wrong rules of an algorithm, each with its number of traces if known. Some
/// are from docs/book/src/algorithms.md, others were found by this test. The comments state the
/// right rules, in the terms of that chapter.
const TRAPS: [(&str, Option<usize>); 23] = [
    // The `reads` of an expression begin with the racing read.
    (
        "store x0 1 | load x0; load x1 | store x1 1 | load x1; load x0",
        None,
    ),
    // An inherited expression is advanced over the events of the new schedule that follow the
    // inherited head.
    (
        "store x0 1 | store x1 1 | store x2 1 | load x1; load x2; load x0 | load x2; load x1; load x0",
        Some(60),
    ),
    // A write that discards the inner expression, but is not on the outer expression's object,
    // discards the outer expression only if `done` is empty.
    (
        "store x1 1; load x1 | load x0; load x1 | store x1 1; load x0 | store x0 1; load x1",
        None,
    ),
    // When a race is reversed, the value before its first event decides whether its second event,
    // a compare-exchange, reads or writes.
    ("cas x0 0 1 | cas x0 0 2 | cas x0 0 1", Some(3)),
    ("cas x0 0 1 | cas x0 1 1 | load x0", Some(5)),
    ("cas x0 2 2 | store x0 2; cas x0 0 1 | load x0", Some(8)),
    ("cas x0 2 1 | store x0 2; load x0 | cas x0 2 1", Some(9)),
    (
        "store x0 1 | load x0 | load x1; load x0 | store x1 1; cas x0 1 2",
        Some(26),
    ),
    // All races are reversed, not only the last race of each event.
    (
        "store x0 1 | load x0; store x1 1 | load x1; store x0 2",
        None,
    ),
    // An expression blocks the reads that follow an event of `done`, even if a write has discarded
    // the inner expression.
    (
        "r0 = cas x1 0 2; r1 = cas x0 2 0 | r0 = load x1; r1 = load x0 | store x1 2; store x1 0 \
         | r0 = load x1; store x0 0",
        None,
    ),
    // Optimal considers all races of an execution, not only races with a new second event.
    (
        "r0 = cas x1 0 2 | r0 = load x1; store x0 2 | r0 = cas x1 2 0 | r1 = cas x1 2 1 \
         | r0 = load x0; r1 = cas x0 0 r0",
        Some(42),
    ),
    (
        "r0 = load x1; if r0 == 1 { r1 = load x0 } | r0 = swap x1 0; store x1 r0 \
         | r0 = swap x1 1; r1 = load x0 | store x0 0",
        Some(32),
    ),
    (
        "r0 = load x1 | store x1 2 | lock m1 | lock m1; unlock m1; lock m1; r0 = load x1",
        Some(8),
    ),
    (
        "signal c0 | broadcast c0 | lock m0 | lock m0; unlock m0; lock m0; signal c0",
        Some(10),
    ),
    // The reduction omits some work for programs without compare-exchange. It must do this work
    // once a compare-exchange appears.
    (
        "r0 = swap x0 1 | r0 = load x0; if r0 == 0 { r1 = cas x0 0 2 }",
        Some(3),
    ),
    // A signal comes before the waiter's unlock, and a try can observe this.
    (
        "lock m0; wait c0 m0; store x0 1; unlock m0 | signal c0; r0 = trylock m0; \
         if r0 == 0 { store x1 1 } | r0 = load x1; if r0 == 1 { lock m0; r1 = load x0; unlock m0 }",
        None,
    ),
    // A reader waits behind a writer although its thread already holds the lock.
    (
        "rdlock l0; rdlock l0; release l0; release l0 | wrlock l0; release l0",
        None,
    ),
    // A signal chooses the waiter that it wakes. The alternatives depend on the order.
    (
        "lock m0; wait c0 m0; unlock m0 | lock m0; wait c0 m0; unlock m0 | signal c0",
        None,
    ),
    // More threads arrive at a barrier than it waits for.
    (
        "b0=2\narrive b0; store x0 1 | arrive b0; store x0 2 | arrive b0",
        None,
    ),
    // A message arrives between the check for the hang-up and the result.
    (
        "q0=inf\nr0 = tryrecv q0; r1 = tryrecv q0 | send q0 1; hangup q0",
        None,
    ),
    (
        "q0=0\nr0 = timedrecv q0 | r0 = trysend q0 1; hangup q0 | r0 = timedsend q0 2",
        None,
    ),
    // After the verified prefix, a constraint is needed in executions in which the try fails.
    (
        "r0 = trylock m0; unlock m0; lock m0; store x0 1 | store x0 0; r3 = trylock m0; unlock m0",
        None,
    ),
    // A revisit places a signal before another signal. The moved signal has several alternatives.
    (
        "signal c0 | lock m0; wait c0 m0; unlock m0 | lock m0; wait c0 m0; unlock m0 | signal c0",
        Some(56),
    ),
];

#[test]
fn programs_that_once_broke_a_law_keep_them_all() {
    let effort = Effort {
        states: 20_000,
        orders: 8,
        ..Effort::default()
    };
    for (text, traces) in TRAPS {
        let program: Program = text.parse().expect("it is a program");
        let oracle = Oracle::new(&program, effort.states).expect("it is small");
        if let Some(traces) = traces {
            assert_eq!(oracle.traces.len(), traces, "{text}");
        }
        if let Err(violation) = check(&program, &Algorithm::ALL, effort, &mut Random::new(1)) {
            panic!("{text}\n{violation}");
        }
    }
}

fn seed() -> u64 {
    match std::env::var("MAZURKA_SEED") {
        Ok(seed) => seed.parse().expect("MAZURKA_SEED is a number"),
        Err(_) => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            now.expect("the clock is past 1970").as_nanos() as u64
        }
    }
}

/// Programs of identical threads. The numbers of traces and of orbits were computed by hand.
#[test]
fn symmetry_leaves_one_trace_of_each_orbit() {
    let increment = "r0 = load x0; store x0 r0";
    let critical = "lock m0; unlock m0";
    for (thread, threads, traces, orbits) in [
        ("add x0 1", 4, 24, 1),
        ("add x0 1; add x0 1", 3, 90, 15),
        (critical, 4, 24, 1),
        ("lock m0; unlock m0; lock m0; unlock m0", 3, 90, 15),
        (increment, 3, 36, 6),
        (increment, 4, 576, 24),
        ("load x0", 4, 1, 1),
    ] {
        let program: Program = vec![thread; threads].join(" | ").parse().expect(thread);
        let found = symmetry::check(&program, 1_000_000);
        assert_eq!(found, Ok(Some((traces, orbits))), "{program}");
    }
}

#[test]
fn writes_of_twins_choose_freely() {
    // The second signal may wake either waiter, although the first one wakes nobody.
    let waits = "lock m0; wait c0 m0; unlock m0";
    for program in [
        format!("signal c0 | signal c0 | {waits} | {waits}; store x0 1"),
        format!("signal c0; store x0 1 | {waits} | signal c0; store x0 1 | {waits}; load x0"),
        "r0 = weak x0 0 1; store x1 r0 | r0 = weak x0 0 1; store x1 r0 | store x0 2; store x0 0"
            .to_owned(),
    ] {
        let program: Program = program.parse().expect("it is a program");
        let found = symmetry::check(&program, 1_000_000);
        assert!(matches!(found, Ok(Some(_))), "{program}\n{found:?}");
    }
}

#[test]
fn searches_up_to_symmetry_find_all_orbits_of_random_programs() {
    let seed = seed();
    let (states, programs) = match cfg!(debug_assertions) {
        true => (300, 20),
        false => (5_000, 60),
    };
    let mut reduced = 0;
    for suite in SUITES {
        for number in 0..programs {
            let mut random = Random::new(seed.wrapping_add(number));
            let mut program = suite.program(&mut random);
            let twins = 1 + random.below(2) as usize;
            program.threads.truncate(4 - twins);
            let twin = program.threads[0].clone();
            program.threads.extend(vec![twin; twins]);
            random.shuffle(&mut program.threads);
            if !program.is_sound() {
                continue;
            }
            match symmetry::check(&program, states) {
                Ok(Some((traces, orbits))) => reduced += traces - orbits,
                Ok(None) => {}
                Err(what) => panic!(
                    "MAZURKA_SEED={seed}, suite {}\n{program}\n{what}",
                    suite.name
                ),
            }
        }
    }
    assert!(reduced > 100, "MAZURKA_SEED={seed}: {reduced}");
}

#[test]
fn random_programs_keep_all_laws() {
    let seed = seed();
    let (effort, programs) = match cfg!(debug_assertions) {
        true => (
            Effort {
                states: 300,
                orders: 2,
                ..Effort::default()
            },
            10,
        ),
        false => (Effort::default(), 25),
    };
    for suite in SUITES {
        for number in 0..programs {
            let mut random = Random::new(seed.wrapping_add(number));
            let program = suite.program(&mut random);
            if let Err(violation) = check(&program, &Algorithm::ALL, effort, &mut random) {
                panic!(
                    "MAZURKA_SEED={seed}, suite {}\n{program}\n{violation}",
                    suite.name
                );
            }
        }
    }
}

#[test]
fn a_random_program_is_sound_and_can_be_read_back() {
    for suite in SUITES {
        for seed in 0..200 {
            let program = suite.program(&mut Random::new(seed));
            assert!(program.is_sound(), "{program}");
            let again: Program = program.to_string().parse().expect("it is a program");
            assert_eq!(again, program);
        }
    }
}
