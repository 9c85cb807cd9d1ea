//! Random programs in C. The checker must find as many traces of each kind as brute force finds for
//! the abstract program. `MAZURKA_SEED` repeats a run, and `MAZURKA_PROGRAMS` sets the number of
//! programs.

use crate::toolchain::{Toolchain, check};
use explore::{MemoryModel, Outcome};
use std::env;
use std::fs;
use testkit::program::Verb;
use testkit::random::Random;
use testkit::suite::SUITES;
use testkit::weak;
use testkit::{Oracle, Program};

/// Programs with more prefixes are left out.
const STATES: usize = 1_500;

#[test]
fn random_programs_have_the_traces_of_the_oracle() {
    let seed = number("MAZURKA_SEED", 1);
    println!("MAZURKA_SEED={seed}");
    let toolchain = Toolchain::first();
    let mut random = Random::new(seed);
    let mut left = number("MAZURKA_PROGRAMS", 200);
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("program.c");
    let executable = folder.path().join("program");
    for suite in SUITES.iter().cycle() {
        if left == 0 {
            return;
        }
        let program = suite.program(&mut random);
        let Some((text, expected)) = comparable(&program) else {
            continue;
        };
        left -= 1;
        fs::write(&source, text).unwrap();
        toolchain.build(&source, &[], &executable).unwrap();
        for algorithm in ["optimal", "parsimonious"] {
            let report = check(&["--algorithm", algorithm], &executable, &[]).unwrap();
            let found = ["executions", "halted", "blocked"].map(|count| report[count].as_u64());
            assert_eq!(found, expected, "{algorithm}, {}:\n{program}", suite.name);
        }
    }
}

/// Returns the program in C, and its expected numbers of complete, halted and blocked executions.
/// Returns `None` if the program behaves differently in C.
fn comparable(program: &Program) -> Option<(String, [Option<u64>; 3])> {
    // In C a failed assertion ends the process, and the number of timeouts is limited.
    let has_assertion = program.to_string().contains("assert");
    if has_assertion || program.does(&[Verb::WeakCompareExchange, Verb::TimedWait, Verb::Arrive]) {
        return None;
    }
    let text = program.c_source().ok()?;
    let oracle = Oracle::new(program, STATES).ok()?;
    // In C, the order of arrivals at a barrier becomes visible when the barrier opens. Brute force
    // observes the order earlier.
    let deadlocks = |outcome: &Outcome| *outcome == Outcome::Deadlock;
    if program.does(&[Verb::Lead]) && oracle.traces.values().any(deadlocks) {
        return None;
    }
    // In C, a thread that holds a lock as a writer and waits for it again gets an error.
    if program.does(&[Verb::WriteLock, Verb::TryWrite]) && oracle.traces.values().any(deadlocks) {
        return None;
    }
    let halted = oracle
        .traces
        .values()
        .filter(|outcome| **outcome == Outcome::Halted);
    let halted = halted.count() as u64;
    let executions = oracle.traces.len() as u64 - halted;
    Some((text, [executions, halted, 0].map(Some)))
}

/// The programs are compiled as C, where release sequences are those before C++20.
#[test]
fn random_programs_have_the_graphs_of_the_axioms() {
    let seed = number("MAZURKA_SEED", 1);
    println!("MAZURKA_SEED={seed}");
    let mut random = Random::new(seed);
    let mut left = number("MAZURKA_PROGRAMS", 200);
    for suite in weak::SUITES.iter().cycle() {
        if left == 0 {
            return;
        }
        let program = suite.program(&mut random);
        left -= u64::from(compare_graphs(&program, suite.name));
    }
}

/// Checks that a program in C has as many graphs as the axioms permit. Returns false if it is too
/// large for the axioms.
pub fn compare_graphs(program: &Program, name: &str) -> bool {
    let expected = [MemoryModel::Tso, MemoryModel::Ra, MemoryModel::Rc11]
        .map(|memory| Some((memory, weak::check(program, memory, true, 3_000).unwrap()?)));
    if expected.contains(&None) {
        return false;
    }
    let folder = tempfile::tempdir().unwrap();
    let [source, executable] = ["program.c", "program"].map(|name| folder.path().join(name));
    fs::write(&source, program.c_source().unwrap()).unwrap();
    Toolchain::first().build(&source, &[], &executable).unwrap();
    for (memory, compared) in expected.into_iter().flatten() {
        let report = check(&["--memory", memory.name()], &executable, &[]).unwrap();
        let counts = ["executions", "halted"].map(|count| report[count].as_u64().unwrap());
        let executions: u64 = counts.iter().sum();
        assert_eq!(executions, compared.graphs, "{memory}, {name}:\n{program}");
    }
    true
}

fn number(variable: &str, default: u64) -> u64 {
    let given = env::var(variable).ok();
    given.map_or(default, |given| given.parse().expect("a number"))
}
