//! `mazurka run` and `mazurka check-run`: programs keep to their verified schedules.

use crate::toolchain::Toolchain;
use ::corpus::native::{self, Plain, Program};
use report::{Case, Constraint, Point, Recording, SafeTrace};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
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

/// A thread ends early if the environment says so. This behaviour was not verified.
const DYING: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
atomic_int x;
static void *first(void *unused) {
    if (getenv("LEAVES_EARLY")) return NULL;
    x = 1;
    x = 2;
    return NULL;
}
static void *second(void *unused) {
    x = 3;
    return NULL;
}
int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, first, NULL);
    pthread_create(&threads[1], NULL, second, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 7;
}
"#;

/// The child process performs an event that would wait in the parent.
const FORKING: &str = r"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
atomic_int x;
static void *work(void *unused) {
    x = 2;
    x = 3;
    return NULL;
}
int main(void) {
    x = 1;
    pid_t child = fork();
    if (child == 0) {
        x = 4;
        x = 5;
        _exit(x);
    }
    int status;
    waitpid(child, &status, 0);
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    x = 6;
    pthread_join(thread, NULL);
    return WEXITSTATUS(status);
}
";

/// Threads that end in three ways and run code when they end.
const ENDS: &str = r"
#include <pthread.h>
#include <stdatomic.h>
#include <threads.h>
static atomic_int x;
static pthread_key_t key;
static void at_end(void *unused) { x++; }
static void *returns(void *unused) {
    pthread_setspecific(key, &x);
    x++;
    return NULL;
}
static void *exits(void *unused) {
    pthread_setspecific(key, &x);
    x++;
    pthread_exit(NULL);
}
static int exits_as_in_c11(void *unused) {
    pthread_setspecific(key, &x);
    x++;
    thrd_exit(3);
}
int main(void) {
    pthread_t threads[2];
    thrd_t last;
    pthread_key_create(&key, at_end);
    pthread_create(&threads[0], NULL, returns, NULL);
    pthread_create(&threads[1], NULL, exits, NULL);
    thrd_create(&last, exits_as_in_c11, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    thrd_join(last, NULL);
    return x != 6;
}
";

/// Returns a folder with a program built by `mazurka cc`.
pub(crate) fn built(source: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("program.c");
    fs::write(&file, source).unwrap();
    let executable = folder.path().join("program");
    let flags = ["-O1".to_owned()];
    Toolchain::first()
        .build(&file, &flags, &executable)
        .unwrap();
    folder
}

pub(crate) fn mazurka(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
    command.args(arguments).current_dir(folder);
    command.stdin(Stdio::null());
    command
}

fn output(folder: &Path, arguments: &[&str]) -> Output {
    mazurka(folder, arguments).output().unwrap()
}

pub(crate) fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Verifies the program and saves `safe.trace`.
pub(crate) fn verify(folder: &Path) {
    output(folder, &["verify", "-q", "-o", "safe.trace", "./program"]);
}

/// Runs the program once with random delays.
fn run(folder: &Path, seed: u32, options: &[&str]) -> Output {
    let seed = seed.to_string();
    let fixed = ["run", "--safe", "safe.trace", "--delays", &seed];
    output(folder, &[&fixed, options, &["./program"]].concat())
}

fn point(thread: u32, index: u32) -> Point {
    Point { thread, index }
}

/// Saves constraints for the program as if they were verified.
fn pretend(folder: &Path, file: &str, constraints: &[(Point, Point)]) {
    let constraints = constraints
        .iter()
        .map(|&(first, then)| Constraint { first, then });
    let case = Case {
        threads: ["0", "0.0", "0.1"].map(str::to_owned).to_vec(),
        constraints: constraints.collect(),
        events_of_prefix: 4,
        ..Case::default()
    };
    let program = fs::read(folder.join("program")).unwrap();
    let trace = SafeTrace {
        program: "program".to_owned(),
        program_checksum: SafeTrace::checksum_of(&program),
        cases: vec![case],
        ..SafeTrace::default()
    };
    trace.save(&folder.join(file)).unwrap();
}

const RUNS: u32 = 60;

#[test]
fn every_recorded_run_adheres_also_while_constraints_are_relaxed() {
    let folder = built(LOST_UPDATE);
    let strict = [
        (point(1, 1), point(2, 1)),
        (point(1, 2), point(2, 1)),
        (point(1, 2), point(2, 2)),
    ];
    for seed in 1..=RUNS {
        pretend(folder.path(), "safe.trace", &strict);
        pretend(folder.path(), "relaxed.trace", &strict[1..2]);
        let seed = seed.to_string();
        let arguments = [
            "run",
            "--safe",
            "safe.trace",
            "--record",
            "run.json",
            "--delays",
            &seed,
            "./program",
        ];
        let mut running = mazurka(folder.path(), &arguments).spawn().unwrap();
        let relaxed = folder.path().join("relaxed.trace");
        fs::rename(relaxed, folder.path().join("safe.trace")).unwrap();
        assert!(running.wait().unwrap().success());
        let checked = output(folder.path(), &["check-run", "run.json", "safe.trace"]);
        let said = String::from_utf8_lossy(&checked.stdout);
        assert!(checked.status.success(), "{said}");
        assert!(said.contains("constraints: 1 of 1 kept"), "{said}");
    }
}

#[test]
fn a_run_that_breaks_a_constraint_is_reported() {
    let folder = built(LOST_UPDATE);
    // The constraints are opposite: a run that keeps one of them breaks the other.
    pretend(folder.path(), "safe.trace", &[(point(1, 2), point(2, 1))]);
    pretend(folder.path(), "other.trace", &[(point(2, 2), point(1, 1))]);
    run(folder.path(), 1, &["--record", "run.json"]);
    let checked = output(folder.path(), &["check-run", "run.json", "other.trace"]);
    assert_eq!(checked.status.code(), Some(1));
    let said = String::from_utf8_lossy(&checked.stdout);
    let broken = "broken: event 2 of thread 0.1 must come before event 1 of thread 0.0";
    assert!(said.contains(broken), "{said}");
}

#[test]
fn an_unsatisfiable_wait_is_reported_and_ends_when_the_constraint_is_dropped() {
    let folder = built(DYING);
    // The main thread joins both threads before its first event, but the constraint requires this
    // event first.
    pretend(folder.path(), "safe.trace", &[(point(0, 1), point(1, 1))]);
    pretend(folder.path(), "relaxed.trace", &[]);
    let arguments = [
        "run",
        "--safe",
        "safe.trace",
        "--patience",
        "50",
        "./program",
    ];
    let mut command = mazurka(folder.path(), &arguments);
    let mut running: Child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let errors = running.stderr.take().unwrap();
    BufReader::new(errors).read_line(&mut line).unwrap();
    let expected = "no progress: thread 0.0 waits for event 1 of thread 0;";
    assert!(line.contains(expected), "{line}");
    let relaxed = folder.path().join("relaxed.trace");
    fs::rename(relaxed, folder.path().join("safe.trace")).unwrap();
    assert_eq!(running.wait().unwrap().code(), Some(7));
}

#[test]
fn a_thread_that_ends_while_others_wait_for_it_ends_the_program_with_a_message() {
    let folder = built(DYING);
    pretend(folder.path(), "safe.trace", &[(point(1, 2), point(2, 1))]);
    assert_eq!(run(folder.path(), 1, &[]).status.code(), Some(7));
    let arguments = ["run", "--safe", "safe.trace", "./program"];
    let mut command = mazurka(folder.path(), &arguments);
    let output = command.env("LEAVES_EARLY", "1").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let expected = "event 1 of thread 0.1 must come after event 2 of thread 0.0, but that thread has ended without it";
    assert!(errors(&output).contains(expected), "{}", errors(&output));
}

#[test]
fn what_cannot_be_kept_is_refused_in_one_line() {
    let folder = built(DYING);
    let refused = |arguments: &[&str], part: &str| {
        let output = output(folder.path(), arguments);
        let errors = errors(&output);
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains(part), "{errors}");
        assert_eq!(errors.trim_end().lines().count(), 1, "{errors}");
    };
    pretend(folder.path(), "safe.trace", &[]);
    let safe = ["run", "--safe", "safe.trace"];
    refused(&["run", "--safe", "none", "./program"], "cannot be read");
    refused(
        &[&safe[..], &["--record", "none/run.json", "./program"]].concat(),
        "no such directory",
    );
    refused(
        &["run", "--safe", "program.c", "./program"],
        "not a safe trace",
    );
    refused(&[&safe[..], &["./program", "3"]].concat(), "arguments");
    refused(
        &[&safe[..], &["./program.c"]].concat(),
        "this is not a program",
    );
    refused(&[&safe[..], &["/bin/sh"]].concat(), "mazurka cc");
    refused(
        &["check-run", "safe.trace", "safe.trace"],
        "not a record file",
    );
    run(folder.path(), 1, &["--record", "run.json"]);
    let mut other = SafeTrace::load(&folder.path().join("safe.trace")).unwrap();
    other.program_checksum.push('0');
    other.save(&folder.path().join("other.trace")).unwrap();
    refused(
        &["check-run", "run.json", "other.trace"],
        "a run of another program",
    );
    let free = ["--unverified-inputs", "run-free", "./program", "3"];
    let output = output(folder.path(), &[&safe[..], &free].concat());
    assert_eq!(output.status.code(), Some(7), "it runs as usual");
    let text = fs::read_to_string(folder.path().join("safe.trace")).unwrap();
    fs::write(
        folder.path().join("corrupt"),
        text.replace("\"0.0\"", "\"0.9\""),
    )
    .unwrap();
    refused(&["run", "--safe", "corrupt", "./program"], "corrupt");
    let mut program = fs::read(folder.path().join("program")).unwrap();
    program.push(0);
    fs::write(folder.path().join("program"), program).unwrap();
    refused(&[&safe[..], &["./program"]].concat(), "not the program");
}

#[test]
fn a_child_that_is_forked_runs_free_and_the_parent_goes_on() {
    let folder = built(FORKING);
    // In the child process, the first constraint would wait forever. The parent keeps both
    // constraints.
    let constraints = [(point(1, 2), point(0, 2)), (point(0, 1), point(1, 1))];
    pretend(folder.path(), "safe.trace", &constraints);
    let ran = run(folder.path(), 3, &["--record", "run.json"]);
    assert_eq!(ran.status.code(), Some(5), "{}", errors(&ran));
    let checked = output(folder.path(), &["check-run", "run.json", "safe.trace"]);
    assert!(checked.status.success());
}

#[test]
fn a_program_whose_main_thread_ends_first_ends_with_its_last_one() {
    let folder = built(
        r"
#include <pthread.h>
#include <stdatomic.h>
atomic_int x;
static void *first(void *unused) {
    x = 1;
    return NULL;
}
static void *second(void *unused) {
    x = 2;
    return NULL;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, first, NULL);
    pthread_create(&thread, NULL, second, NULL);
    pthread_exit(NULL);
}
",
    );
    pretend(folder.path(), "safe.trace", &[(point(2, 1), point(1, 1))]);
    // With delays, the thread that watches the file runs from the start.
    let ran = run(folder.path(), 1, &[]);
    assert_eq!(ran.status.code(), Some(0), "{}", errors(&ran));
}

/// Programs that cannot be compared. Their threads outlive `main`, they cancel threads, or a
/// destructor runs after the end of the search.
const NOT_COMPARED: [&str; 5] = [
    "cancel-cleanup",
    "cancel-cleanup-fixed",
    "length",
    "shared-pointer-fixed",
    "spin-forever",
];

/// The whole first correct execution is enforced, so a run has the same events in the same order.
#[test]
fn a_run_performs_the_events_of_the_verified_execution() {
    let folder = tempfile::tempdir().unwrap();
    let mut problems = Vec::new();
    let mut compared = 0;
    for program in native::read(native::directory()).unwrap() {
        if NOT_COMPARED.contains(&&*program.name) {
            continue;
        }
        let executable = folder.path().join("program");
        let flags = &program.expectation.flags;
        Toolchain::first()
            .build(&program.source, flags, &executable)
            .unwrap();
        for &plain in &program.expectation.plain {
            match difference(folder.path(), &program, plain) {
                Ok(is_compared) => compared += usize::from(is_compared),
                Err(problem) => problems.push(format!("{}: {problem}", program.name)),
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(compared > 100, "only {compared} programs were compared");
}

#[test]
fn what_threads_do_at_their_ends_is_enforced_however_they_end() {
    let folder = built(ENDS);
    let folder = folder.path();
    let stop = ["--stop-when", "constraints=1000000"];
    output(
        folder,
        &[
            &["verify", "-q", "-o", "safe.trace"],
            &stop[..],
            &["./program"],
        ]
        .concat(),
    );
    let trace = SafeTrace::load(&folder.join("safe.trace")).unwrap();
    assert_eq!(trace.cases[0].events_of_execution, 7);
    ran_as(folder, &["./program"], &trace.cases[0]).unwrap();
}

/// Compares a run with the first correct execution. Returns whether a correct execution exists.
fn difference(folder: &Path, program: &Program, plain: Plain) -> Result<bool, String> {
    let how = match plain {
        Plain::Race => "race",
        Plain::Sc => "sc",
    };
    let size = program.expectation.sizes.first();
    let arguments = size.map(Program::arguments).unwrap_or_default();
    let command: Vec<&str> = ["./program"]
        .into_iter()
        .chain(arguments.iter().map(String::as_str))
        .collect();
    let _ = fs::remove_file(folder.join("safe.trace"));
    let verify = [
        "verify",
        "-q",
        "--plain",
        how,
        "--stop-when",
        "constraints=1000000",
        "-o",
        "safe.trace",
    ];
    output(folder, &[&verify[..], &command].concat());
    let Ok(trace) = SafeTrace::load(&folder.join("safe.trace")) else {
        return Ok(false);
    };
    ran_as(folder, &command, &trace.cases[0]).map(|()| true)
}

/// Checks that a recorded run performs the events of the execution in its order.
fn ran_as(folder: &Path, command: &[&str], case: &Case) -> Result<(), String> {
    let run = "run --safe safe.trace --record run.json --delays 1";
    let run: Vec<&str> = run.split(' ').collect();
    let ran = output(folder, &[&run[..], command].concat());
    if !ran.status.success() {
        return Err(format!("{}: {}", ran.status, errors(&ran)));
    }
    let recording = Recording::load(&folder.join("run.json")).map_err(|error| error.to_string())?;
    let events: usize = recording
        .threads
        .iter()
        .map(|thread| thread.events.len())
        .sum();
    let adherence = recording.adherence(case);
    if events as u64 == case.events_of_execution && adherence.broken.is_empty() {
        return Ok(());
    }
    let expected = case.events_of_execution;
    Err(format!(
        "{events} events instead of {expected}, {adherence:?}"
    ))
}
