//! No effect of an execution on the process, the C library or the system reaches the next
//! execution. The checker does not call functions of the program.

use crate::toolchain::{Toolchain, check, succeed};
use std::path::Path;
use std::process::Command;

/// Checks that the program built from this source is correct and has this number of executions.
fn is_correct(compiler: &str, source: &str, flags: &[&str], options: &[&str], executions: u64) {
    let Some(toolchain) = Toolchain::named(compiler) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let executable = folder.path().join("program");
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/native_check/library");
    let flags: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
    toolchain
        .build(&sources.join(source), &flags, &executable)
        .unwrap();
    let arguments = ["word".to_owned()];
    succeed(Command::new(&executable).args(&arguments));
    let report = check(options, &executable, &arguments).unwrap();
    let errors = report["errors"].as_array().unwrap();
    assert!(errors.is_empty(), "{source} by {compiler}: {errors:?}");
    assert_eq!(report["executions"], executions, "{source} by {compiler}");
}

/// Seven threads with one atomic operation each have 5,040 interleavings.
const MANY: &[&str] = &["-w", "-DTHREADS=7", "-Wl,--no-as-needed", "-lm"];
const SOME: &[&str] = &["--max-executions", "1200"];

#[test]
fn the_c_library_is_as_at_the_start_in_execution_1000() {
    for compiler in ["gcc", "clang"] {
        is_correct(compiler, "state.c", MANY, SOME, 1_200);
    }
}

#[test]
fn the_process_is_as_at_the_start_in_execution_1000() {
    let flags = [MANY, &["-DWITH_LIBRARIES"]].concat();
    for compiler in ["gcc", "clang"] {
        is_correct(compiler, "state.c", &flags, SOME, 1_200);
    }
}

#[test]
fn the_state_of_threads_is_put_back_in_the_middle_of_executions() {
    for compiler in ["gcc", "clang"] {
        for algorithm in ["parsimonious", "optimal"] {
            let options = ["--algorithm", algorithm];
            // Three threads with three operations each on one variable: 9! / (3!)³.
            is_correct(compiler, "confined-state.c", &[], &options, 1_680);
        }
    }
}

/// Either the first thread runs alone, or six threads perform one operation each on one variable,
/// in 6! orders.
#[test]
fn threads_with_thread_local_memory_may_be_started_late() {
    for compiler in ["gcc", "clang"] {
        for algorithm in ["parsimonious", "optimal"] {
            let options = ["--algorithm", algorithm];
            is_correct(compiler, "late-threads.c", &[], &options, 721);
        }
    }
}

#[test]
fn functions_of_the_program_may_be_called_as_those_of_the_c_library() {
    for compiler in ["gcc", "clang"] {
        is_correct(compiler, "own-names.c", &["-w", "-fno-builtin"], &[], 2);
    }
}

#[test]
fn volatile_locals_keep_their_values_when_a_thread_jumps_back() {
    for compiler in ["gcc", "clang"] {
        is_correct(compiler, "jumps.c", &[], &[], 50);
    }
}
