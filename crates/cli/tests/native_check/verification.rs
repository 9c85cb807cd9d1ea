//! `mazurka verify` and `mazurka show`: the safe schedules of a program.

use crate::toolchain::Toolchain;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Two threads increment a counter, each with a load and a store.
const LOST_UPDATE: &str = r"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
atomic_int x;
static void *add(void *unused) {
    int seen = x;
    x = seen + 1;
    return NULL;
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, add, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    assert(x == 2);
}
";

/// Each thread adds one to the cell that its input names.
pub(crate) const CELLS: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include "mazurka.h"
atomic_int cells[3];
static void *add(void *cell) {
    (*(atomic_int *)cell)++;
    return NULL;
}
int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, add, &cells[mazurka_input("x", 0, 2)]);
    pthread_create(&threads[1], NULL, add, &cells[mazurka_input("y", 0, 2)]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}
"#;

/// Threads that write to one place; the argument is their number.
const WRITERS: &str = r"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
atomic_int x;
static void *write(void *unused) {
    x = 1;
    return NULL;
}
int main(int count, char **arguments) {
    pthread_t threads[8];
    int number = atoi(arguments[1]);
    for (int i = 0; i < number; i++) pthread_create(&threads[i], NULL, write, NULL);
    for (int i = 0; i < number; i++) pthread_join(threads[i], NULL);
}
";

/// Two threads increment a counter. The order of other operations decides whether the increments
/// race.
const DATA_RACE: &str = r"
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
atomic_int first;
int x;
static void *add(void *unused) {
    if (atomic_exchange(&first, 1)) x++;
    return NULL;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, add, NULL);
    if (atomic_exchange(&first, 1) == 0) x++;
    pthread_join(thread, NULL);
}
";

/// Returns a folder with a program built by `mazurka cc`.
pub(crate) fn built(source: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("program.c");
    fs::write(&file, source).unwrap();
    let header = concat!(env!("CARGO_MANIFEST_DIR"), "/../../include");
    let flags = ["-O1".to_owned(), format!("-I{header}")];
    let executable = folder.path().join("program");
    Toolchain::first()
        .build(&file, &flags, &executable)
        .unwrap();
    folder
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
    Toolchain::first().stands_behind(&mut command);
    command.args(arguments).current_dir(folder);
    command.stdin(Stdio::null()).output().unwrap()
}

/// Returns the exit code and the JSON of `mazurka verify`.
fn verified(folder: &Path, arguments: &[&str]) -> (Option<i32>, Value) {
    let fixed = ["verify", "--format", "json", "-o", "safe.trace"];
    let output = run(folder, &[&fixed, arguments].concat());
    let errors = String::from_utf8_lossy(&output.stderr);
    let json = serde_json::from_slice(&output.stdout);
    let json = json.unwrap_or_else(|error| panic!("{error}: {errors}"));
    (output.status.code(), json)
}

fn shown(folder: &Path, options: &[&str]) -> String {
    let output = run(folder, &[&["show", "safe.trace"], options].concat());
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the condition, the number of constraints and the executions of each case.
fn cases(json: &Value) -> Vec<(String, usize, u64)> {
    let cases = json["cases"].as_array().unwrap().iter();
    let case = |case: &Value| {
        let constraints = case["constraints"].as_array().unwrap().len();
        (constraints, case["executions"].as_u64().unwrap())
    };
    let condition = |case: &Value| case["condition"].to_string();
    cases
        .map(|listed| (condition(listed), case(listed).0, case(listed).1))
        .collect()
}

#[test]
fn a_bug_keeps_the_constraint_that_prevents_it() {
    let folder = built(LOST_UPDATE);
    for algorithm in ["source", "optimal", "parsimonious"] {
        let (code, json) = verified(folder.path(), &["./program", "--algorithm", algorithm]);
        assert_eq!((code, &json["verdict"]), (Some(1), &Value::from("bug")));
        assert_eq!(cases(&json), [("[[]]".to_owned(), 1, 1)], "{algorithm}");
        let excluded = &json["cases"][0]["excluded"][0];
        assert!(excluded.as_str().unwrap().contains("x == 2"), "{excluded}");
    }
    let text = shown(folder.path(), &[]);
    assert!(
        text.contains("thread 0.0, event 2: x.store(1) at program.c:9"),
        "{text}"
    );
    assert!(
        text.contains("before thread 0.1, event 1: x.load() -> 1"),
        "{text}"
    );
    let graph = shown(folder.path(), &["--format", "dot"]);
    assert!(graph.contains("c0_t0_e2 -> c0_t1_e1"), "{graph}");
}

#[test]
fn nothing_is_safe_of_a_program_with_a_data_race() {
    let folder = built(DATA_RACE);
    let (code, json) = verified(folder.path(), &["./program"]);
    assert_eq!((code, &json["verdict"]), (Some(1), &Value::from("bug")));
    assert!(cases(&json).is_empty());
    assert!(!folder.path().join("safe.trace").exists());
}

/// The program reads its input during verification. In a run, the input would be different.
#[test]
fn nothing_is_safe_of_a_program_that_reads_its_standard_input() {
    let folder = built("#include <stdio.h>\nint main(void) { return getchar() == 'x'; }");
    let verified = run(folder.path(), &["verify", "-o", "safe.trace", "./program"]);
    let errors = String::from_utf8(verified.stderr).unwrap();
    assert_eq!(verified.status.code(), Some(2), "{errors}");
    assert!(errors.contains("reads its standard input"), "{errors}");
    assert!(!folder.path().join("safe.trace").exists());
}

#[test]
fn constraints_that_hold_for_some_inputs_have_a_condition() {
    let folder = built(CELLS);
    let (code, json) = verified(folder.path(), &["./program"]);
    assert_eq!(
        (code, &json["verdict"]),
        (Some(0), &Value::from("verified"))
    );
    assert_eq!(json["inputs"][1]["name"], "y");
    // One constraint if both threads write the same cell, as long as only one order is verified.
    let enough = ["./program", "--stop-when", "constraints=1"];
    let (code, json) = verified(folder.path(), &enough);
    assert_eq!((code, &json["verdict"]), (Some(3), &Value::from("bounded")));
    let counts: Vec<(usize, u64)> = cases(&json).iter().map(|case| (case.1, case.2)).collect();
    assert_eq!(counts, [(1, 3), (0, 6)]);
    let text = shown(folder.path(), &[]);
    assert!(text.contains("for x == y: 1 of 1 constraints"), "{text}");
    assert!(text.contains("for x != y: "), "{text}");
}

#[test]
fn a_verification_stops_when_runs_are_cheap_enough() {
    let folder = built(WRITERS);
    // No run is a hundred thousand times slower. So the first of 40,320 executions is enough, apart
    // from those before the measurement.
    let enough = ["./program", "8", "--stop-when", "overhead=10000000%"];
    let (code, json) = verified(folder.path(), &enough);
    assert_eq!((code, cases(&json)[0].1), (Some(3), 7));
    assert!(cases(&json)[0].2 < 40_320);
}

/// A thread performs many operations before it writes a variable that another thread reads.
const LATE_WRITER: &str = r"
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
static atomic_int own, x;
static void *write(void *unused) {
    for (int i = 0; i < 1500; i++) own++;
    x = 1;
    return NULL;
}
static void *read(void *unused) {
    (void)atomic_load(&x);
    return NULL;
}
int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, write, NULL);
    pthread_create(&threads[1], NULL, read, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}
";

#[test]
fn the_first_execution_may_be_one_in_which_few_threads_wait() {
    let folder = built(LATE_WRITER);
    let first = |preference| {
        let options = ["--prefer", preference, "--stop-when", "constraints=1"];
        let (code, json) = verified(folder.path(), &[&options[..], &["./program"]].concat());
        assert_eq!((code, cases(&json)[0].1), (Some(3), 1));
        json["cases"][0]["constraints"][0]["first"].clone()
    };
    let path = |json: &Value| json[1].as_u64().unwrap();
    // Either the reader waits for all 1,501 events of the writer, or the writer waits for one event
    // of the reader.
    assert_eq!(path(&first("any")), 1501);
    assert_eq!(path(&first("few-waiting")), 1);
}

#[test]
fn an_argument_is_an_input() {
    let folder = built(WRITERS);
    let (code, json) = verified(folder.path(), &["./program", "{n}", "--input", "n=1..4"]);
    assert_eq!(code, Some(0));
    // There are 1! + 2! + 3! + 4! orders of the writes.
    assert_eq!(cases(&json), [("[[]]".to_owned(), 0, 33)]);
    let enough = [
        "./program",
        "{n}",
        "--input",
        "n=3..3",
        "--stop-when",
        "constraints=2",
    ];
    let (code, json) = verified(folder.path(), &enough);
    // Each write waits for the previous write.
    assert_eq!(
        (code, cases(&json)),
        (Some(3), vec![("[[]]".to_owned(), 2, 1)])
    );
}

#[test]
fn programs_of_the_corpus_are_verified_by_as_many_executions_as_they_have_traces() {
    let folder = tempfile::tempdir().unwrap();
    for algorithm in ["optimal", "parsimonious"] {
        let (code, json) = verified(folder.path(), &["readers:6", "--algorithm", algorithm]);
        assert_eq!((code, cases(&json)[0].2), (Some(0), 64));
        // As in Metzler et al.: after 8 of 4,096 executions 9 of 12 constraints are left.
        let enough = [
            "indexer:15",
            "--algorithm",
            algorithm,
            "--stop-when",
            "constraints=9",
        ];
        let (code, json) = verified(folder.path(), &enough);
        assert_eq!((code, cases(&json)[0].1), (Some(3), 9), "{algorithm}");
        assert_eq!(cases(&json)[0].2, 8, "{algorithm}");
        assert_eq!(json["cases"][0]["constraints_at_first"], 12);
    }
}

#[test]
fn what_cannot_be_verified_is_refused_in_one_line() {
    let folder = built(CELLS);
    let refused = |arguments: &[&str], part: &str| {
        let output = run(folder.path(), arguments);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
        assert!(errors.contains(part), "{errors}");
    };
    refused(
        &["verify", "program.c", "-o", "safe.trace"],
        "build the program",
    );
    refused(&["verify", "./missing", "-o", "safe.trace"], "cannot read");
    refused(
        &["verify", "/bin/sh", "-o", "safe.trace"],
        "not built with Mazurka",
    );
    refused(
        &["verify", "./program", "-o", "none/safe.trace"],
        "no such directory",
    );
    refused(
        &[
            "verify",
            "./program",
            "-o",
            "safe.trace",
            "--algorithm",
            "pct",
        ],
        "source, optimal or parsimonious",
    );
    refused(
        &["verify", "./program", "-o", "safe.trace", "--input", "z"],
        "n=1..4",
    );
    refused(
        &[
            "verify",
            "./program",
            "-o",
            "safe.trace",
            "--input",
            "z=0..1000000",
        ],
        "smaller range",
    );
    refused(
        &[
            "verify",
            "./program",
            "-o",
            "safe.trace",
            "--stop-when",
            "soon",
        ],
        "overhead=10%",
    );
    refused(&["show", "program.c"], "not a safe trace file");
    refused(&["show", "missing"], "cannot be read");
}
