//! Checks programs that use nearly all thread functions of the C and C++ libraries.

use crate::toolchain::{Toolchain, check, succeed};
use std::path::Path;
use std::process::Command;

/// Each program with its compiler flags and number of parts. An argument selects the part.
const PROGRAMS: [(&str, &[&str], usize); 7] = [
    ("posix-locks.c", &[], 1),
    ("posix-threads.c", &[], 1),
    ("semaphores.c", &[], 1),
    ("c11-threads.c", &[], 1),
    ("stdatomic.c", &["-w", "-Wl,--no-as-needed", "-latomic"], 1),
    ("cpp17.cpp", &["-std=c++17"], 4),
    ("cpp20.cpp", &["-std=c++20"], 5),
];

/// Programs with C++ barriers have about 20,000 executions.
const MOST_EXECUTIONS: &str = "3000";

#[test]
fn programs_that_use_the_libraries_are_checked_with_gcc_and_run_as_usual() {
    all_are_checked("gcc");
}

#[test]
fn programs_that_use_the_libraries_are_checked_with_clang_where_it_is_installed() {
    all_are_checked("clang");
}

fn all_are_checked(compiler: &str) {
    let Some(toolchain) = Toolchain::named(compiler) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let executable = folder.path().join("program");
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/native_check/library");
    for (name, flags, parts) in PROGRAMS {
        let flags: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
        toolchain
            .build(&sources.join(name), &flags, &executable)
            .unwrap();
        for part in 0..parts {
            let arguments = vec!["x".to_owned(); part];
            let options = ["--max-executions", MOST_EXECUTIONS];
            let report = check(&options, &executable, &arguments).unwrap();
            let errors = report["errors"].as_array().unwrap();
            assert!(errors.is_empty(), "{name}, part {part}: {errors:?}");
            assert!(
                report["executions"].as_u64() > Some(1),
                "{name}, part {part}"
            );
            succeed(Command::new(&executable).args(&arguments));
        }
    }
}

#[test]
fn large_atomic_variables_are_accessed_at_once() {
    let source = r"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
struct large { long parts[5]; };
static _Atomic struct large variable;
static void *other(void *p) { atomic_store(&variable, ((struct large){{1, 1, 1, 1, 1}})); return p; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
    struct large seen = atomic_load(&variable);
    assert(seen.parts[0] == seen.parts[4]);
    assert(seen.parts[0] == UNSEEN);
    pthread_join(thread, NULL);
    return 0;
}
";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("large.c");
    let executable = folder.path().join("large");
    std::fs::write(&file, source).unwrap();
    for (value, line) in [
        ("0", "\"large.c:13"),
        ("1", "\"large.c:13"),
        ("seen.parts[4]", ""),
    ] {
        let flags = ["-w".to_owned(), format!("-DUNSEEN={value}")];
        Toolchain::first()
            .build(&file, &flags, &executable)
            .unwrap();
        let report = check(&["--plain", "sc"], &executable, &[]).unwrap();
        assert_eq!(
            report["verdict"] == "bug",
            !line.is_empty(),
            "{value}: {report}"
        );
    }
}
