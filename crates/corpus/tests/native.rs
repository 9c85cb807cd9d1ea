//! Tests that the programs in C and C++ are consistent: their expectations can be read, and correct
//! programs also run without the checker.

use corpus::native::{self, Language, Program};
use corpus::{Expected, Project};
use mazurka::FailureKind;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Number of runs of a correct program without the checker.
const RUNS: usize = 10;

/// Implements the functions of the checker's header without the checker: atomic blocks use one
/// lock, integers and choices are 0, booleans are true, and an assumption that does not hold ends
/// the program.
const VERIFIER: &str = "
    #include <pthread.h>
    #include <stdlib.h>
    static pthread_mutex_t atomic_block = PTHREAD_MUTEX_INITIALIZER;
    void __VERIFIER_atomic_begin(void) { pthread_mutex_lock(&atomic_block); }
    void __VERIFIER_atomic_end(void) { pthread_mutex_unlock(&atomic_block); }
    void __VERIFIER_assume(int holds) { if (!holds) exit(0); }
    int __VERIFIER_nondet_int(void) { return 0; }
    _Bool __VERIFIER_nondet_bool(void) { return 1; }
    void reach_error(void) { abort(); }
    unsigned mazurka_choose(unsigned alternatives) { (void)alternatives; return 0; }
    void mazurka_assume(int holds) { if (!holds) exit(0); }
";

#[test]
fn every_directory_has_a_program_and_an_expectation() {
    for entry in fs::read_dir(native::directory()).unwrap() {
        let path = entry.unwrap().path();
        let is_directory = path.is_dir() && !path.ends_with("projects");
        let has = |file: &str| path.join(file).is_file();
        let has_program = has("program.rs") || has("prog.c") || has("prog.cpp");
        assert!(
            !is_directory || has_program && has("expect.toml"),
            "{path:?}"
        );
        let sources = ["program.rs", "prog.c", "prog.cpp"].map(|file| path.join(file));
        let is_fixed = sources.iter().any(|source| {
            let source = fs::read_to_string(source);
            source.is_ok_and(|source| source.contains("FIXED"))
        });
        assert!(!is_fixed || has("fixed.toml"), "{path:?} has no fixed.toml");
    }
}

#[test]
fn every_native_expectation_can_be_read_and_fits_its_program() {
    for Program {
        name, expectation, ..
    } in programs()
    {
        let is_bug = expectation.verdict == Expected::Bug;
        assert_eq!(
            is_bug,
            expectation.failure.is_some(),
            "{name}: {expectation:?}"
        );
        assert!(!expectation.plain.is_empty(), "{name} is checked somehow");
        for expected in &expectation.sizes {
            let mut same = expectation
                .sizes
                .iter()
                .filter(|other| other.size == expected.size);
            assert!(
                same.nth(1).is_none(),
                "{name}:{:?} is there once",
                expected.size
            );
        }
    }
}

#[test]
fn every_native_fixed_twin_verifies_and_its_original_has_a_bug() {
    let programs = programs();
    let verdict = |name: &str| {
        let program = programs.iter().find(|program| program.name == name);
        program.map(|program| program.expectation.verdict)
    };
    for program in &programs {
        if let Some(original) = program.name.strip_suffix("-fixed") {
            assert_eq!(
                program.expectation.verdict,
                Expected::Verified,
                "{program:?}"
            );
            assert_eq!(verdict(original), Some(Expected::Bug), "{original}");
        }
    }
}

#[test]
fn gcc_compiles_every_program_without_a_warning_and_the_correct_ones_run_to_an_end() {
    let verifier = scratch("verifier.c");
    fs::write(&verifier, VERIFIER).unwrap();
    let stubs = scratch("verifier.o");
    succeeds(
        Command::new("gcc")
            .arg("-c")
            .arg(&verifier)
            .arg("-o")
            .arg(&stubs),
    );
    for program in programs() {
        let executable = scratch(&program.name);
        succeeds(
            compile(["gcc", "g++"], &program)
                .arg(&stubs)
                .arg("-o")
                .arg(&executable),
        );
        let runs = match program.expectation.verdict {
            Expected::Verified => RUNS,
            Expected::Bug => 0,
        };
        for _ in 0..runs {
            succeeds(&mut Command::new(&executable));
        }
    }
}

#[test]
fn clang_compiles_every_program_without_a_warning_where_it_is_installed() {
    if Command::new("clang").arg("--version").output().is_err() {
        return println!("clang is missing: nothing is compiled with it");
    }
    for program in programs() {
        succeeds(
            compile(["clang", "clang++"], &program).args(["-fsyntax-only", "-fsanitize=thread"]),
        );
    }
}

#[test]
fn make_and_where_it_is_installed_cmake_build_every_project() {
    for project in corpus::projects(native::directory()).unwrap() {
        let made = empty_scratch(&format!("{}-made", project.name));
        let mut make = Command::new("make");
        make.arg("-C").arg(&project.directory).arg("CFLAGS=-Werror");
        succeeds(
            make.arg("CXXFLAGS=-Werror")
                .arg(format!("B={}", made.display())),
        );
        runs(&project, &made);
        if Command::new("cmake").arg("--version").output().is_err() {
            println!("cmake is missing: {} is built by make only", project.name);
            continue;
        }
        let built = empty_scratch(&format!("{}-built", project.name));
        succeeds(
            Command::new("cmake")
                .arg("-S")
                .arg(&project.directory)
                .arg("-B")
                .arg(&built),
        );
        succeeds(Command::new("cmake").arg("--build").arg(&built));
        runs(&project, &built);
    }
}

fn runs(project: &Project, directory: &Path) {
    for (name, program) in &project.programs {
        let executable = directory.join(name);
        assert!(executable.is_file(), "{executable:?}");
        if program.verdict == Expected::Verified {
            succeeds(&mut Command::new(executable));
        }
    }
}

#[test]
fn every_kind_of_bug_is_there() {
    let found: Vec<FailureKind> = programs()
        .into_iter()
        .filter_map(|program| program.expectation.failure)
        .collect();
    for kind in [
        FailureKind::Assertion,
        FailureKind::DataRace,
        FailureKind::Deadlock,
        FailureKind::Stuck,
        FailureKind::Misuse,
        FailureKind::Abort,
        FailureKind::Crash,
        FailureKind::StackOverflow,
        FailureKind::EndlessLoop,
        FailureKind::UseAfterFree,
        FailureKind::DoubleFree,
        FailureKind::Leak,
    ] {
        assert!(found.contains(&kind), "no program shows {kind:?}");
    }
}

fn programs() -> Vec<Program> {
    native::read(native::directory()).unwrap()
}

/// Returns the compiler command for C or C++.
fn compile([c, cpp]: [&str; 2], program: &Program) -> Command {
    let mut command = Command::new(match program.language {
        Language::C => c,
        Language::Cpp => cpp,
    });
    command
        .args(["-O0", "-g", "-Wall", "-Wextra", "-Werror", "-pthread"])
        .args(&program.expectation.flags)
        .arg(&program.source);
    command
}

fn succeeds(command: &mut Command) {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{command:?}: {}\n{errors}",
        output.status
    );
}

fn scratch(file: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(file)
}

fn empty_scratch(directory: &str) -> PathBuf {
    let path = scratch(directory);
    if path.exists() {
        fs::remove_dir_all(&path).unwrap();
    }
    fs::create_dir_all(&path).unwrap();
    path
}
