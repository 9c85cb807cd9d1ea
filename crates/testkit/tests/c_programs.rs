//! Tests the interpreter of C programs on known behaviour, and the C source of the programs with a
//! compiler.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use testkit::c_program::machine::{Behaviour, behaviour, has_unordered_accesses};
use testkit::c_program::random::{THEMES, program};
use testkit::c_program::{
    Acquire, CProgram, Expected, Home, Object, Place, RegisterHome, Rmw, Round, Statement, Thread,
    Value, Waiting, source,
};
use testkit::random::Random;

const WORD: Place = Place {
    region: 0,
    offset: 0,
    size: 4,
};
const NEIGHBOUR: Place = Place {
    region: 0,
    offset: 4,
    size: 4,
};
const BOTH: Place = Place {
    region: 0,
    offset: 0,
    size: 8,
};

/// Returns a program of two threads and a main thread that only creates and joins them.
fn two(first: Vec<Statement>, second: Vec<Statement>) -> CProgram {
    use Statement::{Create, Join};
    let main = vec![
        Create { thread: 1 },
        Create { thread: 2 },
        Join { thread: 1 },
        Join { thread: 2 },
    ];
    let thread = |body| Thread {
        registers: RegisterHome::Locals,
        body,
    };
    CProgram {
        regions: vec![Home::Static],
        mutexes: vec![Home::Static],
        condvars: vec![Home::Static],
        threads: vec![thread(main), thread(first), thread(second)],
        ..CProgram::default()
    }
}

fn explored(first: Vec<Statement>, second: Vec<Statement>) -> Behaviour {
    behaviour(&two(first, second), 10_000, 0).unwrap()
}

/// Returns the first register of the second thread in all outcomes.
fn second(behaviour: &Behaviour) -> BTreeSet<&str> {
    let outcomes = behaviour.outcomes.iter();
    outcomes
        .map(|outcome| outcome.split(' ').nth(6).unwrap())
        .collect()
}

#[test]
fn a_wide_load_sees_either_store_to_its_halves() {
    let store = |place| Statement::Store {
        place,
        value: Value::Constant(1),
    };
    let load = Statement::Load {
        place: BOTH,
        into: 0,
    };
    let found = explored(vec![store(WORD), store(NEIGHBOUR)], vec![load]);
    assert_eq!(second(&found), ["0", "1", "4294967297"].into());
    assert!(!found.has_race && !found.has_deadlock);
}

#[test]
fn plain_increments_race_and_lose_updates() {
    let increment = vec![Statement::Increment { place: WORD }];
    let found = explored(increment.clone(), increment.clone());
    assert!(found.has_race);
    assert_eq!(found.outcomes.len(), 2);
    let locked = |body| {
        vec![Statement::Locked {
            mutex: 0,
            how: Acquire::Lock,
            body,
        }]
    };
    let found = explored(locked(increment.clone()), locked(increment));
    assert!(!found.has_race);
    assert_eq!(found.outcomes.len(), 1);
}

#[test]
fn a_store_orders_nothing_before_it_and_a_read_modify_write_does() {
    // The compare-exchange writes only if it precedes the first statement of the other thread. So
    // that statement always separates its write from the read.
    let exchange = Statement::CompareExchange {
        place: Place { size: 16, ..WORD },
        expected: Expected::Register(0),
        desired: Value::Constant(1),
        into: 1,
    };
    let read = Statement::Read {
        place: Place { offset: 8, ..WORD },
        into: 0,
    };
    let value = Value::Constant(1);
    let store = Statement::Store { place: WORD, value };
    let modify = Statement::Modify {
        rmw: Rmw::Add,
        place: WORD,
        value,
        into: None,
    };
    for (first, races) in [(store, true), (modify, false)] {
        let program = two(vec![exchange.clone()], vec![first, read.clone()]);
        assert!(!behaviour(&program, 10_000, 0).unwrap().has_race);
        assert_eq!(has_unordered_accesses(&program, false, 10_000), Some(races));
    }
}

#[test]
fn a_signal_that_nobody_waits_for_is_lost() {
    let wait = Statement::Wait {
        condvar: 0,
        mutex: 0,
        place: WORD,
        value: 1,
        how: Waiting::Once,
    };
    let locked = |body| {
        vec![Statement::Locked {
            mutex: 0,
            how: Acquire::Lock,
            body,
        }]
    };
    let signal = Statement::Signal {
        condvar: 0,
        is_broadcast: false,
    };
    let found = explored(locked(vec![wait]), locked(vec![signal]));
    assert!(found.has_deadlock);
    assert_eq!(found.outcomes.len(), 1);
}

#[test]
fn a_spin_loop_counts_up_to_its_most() {
    let round = Round::Count {
        register: 0,
        most: 2,
        by: testkit::c_program::Counting::Assignment,
    };
    let spin = Statement::Spin {
        place: WORD,
        value: 1,
        round,
    };
    let store = Statement::Store {
        place: WORD,
        value: Value::Constant(1),
    };
    let found = explored(vec![store], vec![spin.clone()]);
    assert_eq!(second(&found), ["0", "1", "2"].into());
    assert!(!found.has_deadlock);
    assert!(explored(Vec::new(), vec![spin]).has_deadlock);
}

#[test]
fn random_programs_are_c_and_end_as_the_interpreter_says() {
    let mut random = Random::new(1);
    let programs: Vec<CProgram> = THEMES
        .into_iter()
        .map(|theme| program(&mut random, Some(theme)))
        .collect();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (file, executable) = (folder.join("programs.c"), folder.join("programs"));
    fs::write(&file, source::source(&programs)).unwrap();
    let flags = ["-w", "-fno-strict-aliasing", "-pthread", "-mcx16"];
    let mut gcc = Command::new("gcc");
    gcc.args(flags)
        .arg(&file)
        .arg("-o")
        .arg(&executable)
        .arg("-latomic");
    assert!(gcc.status().unwrap().success());
    let mut compared = 0;
    for (number, program) in programs.iter().enumerate() {
        let Some(found) = behaviour(program, 10_000, 0) else {
            continue;
        };
        if found.has_race || found.has_deadlock {
            continue;
        }
        let run = Command::new(&executable)
            .args([number.to_string().as_str(), "50", "1"])
            .output()
            .unwrap();
        assert!(run.status.success());
        for outcome in String::from_utf8(run.stdout).unwrap().lines().skip(1) {
            assert!(found.outcomes.contains(outcome), "{outcome}: {program:?}");
        }
        compared += 1;
    }
    assert!(compared > THEMES.len() / 3, "{compared}");
}

#[test]
fn the_destruction_of_an_object_comes_after_all_its_uses() {
    let uses = Statement::Locked {
        mutex: 0,
        how: Acquire::Lock,
        body: Vec::new(),
    };
    let says = Statement::Store {
        place: WORD,
        value: Value::Constant(1),
    };
    let hears = Statement::Spin {
        place: WORD,
        value: 1,
        round: Round::Nothing,
    };
    let renews = Statement::Renew {
        object: Object::Mutex(0),
    };
    let races = |first: [&Statement; 2], second: [&Statement; 2]| {
        let [first, second] = [first, second].map(|body| body.map(Clone::clone).to_vec());
        let program = two(first, second);
        let found = behaviour(&program, 10_000, 0).unwrap();
        let unordered = has_unordered_accesses(&program, true, 10_000);
        assert_eq!(unordered, Some(found.has_race_of_objects));
        found.has_race_of_objects
    };
    assert!(!races([&uses, &says], [&hears, &renews]));
    assert!(!races([&renews, &says], [&hears, &uses]));
    assert!(races([&says, &uses], [&hears, &renews]));
    assert!(races([&says, &renews], [&hears, &renews]));
    assert!(races([&says, &uses], [&renews, &hears]));
}
