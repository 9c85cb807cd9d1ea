//! Tests abstract programs as C: they compile without warnings, and run to completion if they must.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::random::Random;
use testkit::suite::SUITES;
use testkit::{NotInC, Oracle, Place, Program};

/// Number of programs of each family.
const PROGRAMS: usize = 2;

/// Without the checker, choices are 0, and a failing assumption ends the program.
const STUBS: &str = "
#include <stdlib.h>
void __VERIFIER_assume(int holds) { if (!holds) exit(0); }
unsigned mazurka_choose(unsigned alternatives) { (void)alternatives; return 0; }
";

#[test]
fn random_programs_are_compiled_without_a_warning_and_run_to_an_end() {
    let stubs = file("stubs.c", STUBS);
    let mut random = Random::new(1);
    let mut compiled = 0;
    for (number, suite) in SUITES
        .iter()
        .cycle()
        .take(SUITES.len() * PROGRAMS)
        .enumerate()
    {
        let program = suite.program(&mut random);
        let Ok(source) = program.c_source() else {
            continue;
        };
        let source = file(&format!("program{number}.c"), &source);
        let executable = source.with_extension("");
        let mut gcc = Command::new("gcc");
        gcc.args(["-Wall", "-Wextra", "-Werror", "-pthread"]);
        succeeds(
            gcc.arg(&source).arg(&stubs).arg("-o").arg(&executable),
            &program,
        );
        compiled += 1;
        if always_ends(&program) {
            succeeds(&mut Command::new(&executable), &program);
        }
    }
    assert!(compiled > SUITES.len() * PROGRAMS / 2, "{compiled}");
}

#[test]
fn what_pthreads_do_not_have_is_refused() {
    let refused = |text: &str| text.parse::<Program>().unwrap().c_source().unwrap_err();
    assert!(matches!(
        refused("r0 = recv q0 | r0 = send q0 1"),
        NotInC::Verb(_)
    ));
    assert_eq!(refused("join t1 | store x0 1"), NotInC::Lifetime(1));
    assert_eq!(
        refused("join t1; spawn t1 | store x0 1"),
        NotInC::Lifetime(1)
    );
    assert_eq!(
        refused("spawn t1; join t1; join t1 | store x0 1"),
        NotInC::Lifetime(1)
    );
}

/// Checks whether every execution runs to its end, without a timeout.
fn always_ends(program: &Program) -> bool {
    let is_timed = program.to_string().contains("timedwait");
    let ends = |(_, place): &(Vec<u64>, Place)| matches!(place, Place::Finished | Place::Assuming);
    let oracle = Oracle::new(program, 2_000);
    !is_timed
        && oracle.is_ok_and(|oracle| oracle.finals.iter().all(|end| end.threads.iter().all(ends)))
}

fn succeeds(command: &mut Command, program: &Program) {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{program}\n{command:?}: {}\n{errors}",
        output.status
    );
}

fn file(name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, text).unwrap();
    path
}
