//! Rust programs keep to their verified schedules: `mazurka verify`, `run` and `check-run` with a
//! binary that calls `mazurka::program`.

mod relaxation;

use enforce::{ENFORCE, Order};
use report::{Case, Recording, SafeTrace};
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const BINARY: &str = env!("CARGO_BIN_EXE_mazurka-enforced");

fn mazurka(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
    command.args(arguments).current_dir(folder);
    command.env("RUST_BACKTRACE", "0").stdin(Stdio::null());
    command
}

fn output(folder: &Path, arguments: &[&str]) -> Output {
    mazurka(folder, arguments).output().unwrap()
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Verifies a program and saves `safe.trace`.
fn verify(folder: &Path, name: &str, options: &[&str]) -> Output {
    let command = [BINARY, name];
    let fixed = ["verify", "-q", "-o", "safe.trace"];
    output(folder, &[&fixed, options, &command].concat())
}

/// Runs the program once like `mazurka run`, with random delays.
fn run(folder: &Path, name: &str, seed: u64, runs_free: bool) -> Output {
    let order = Order {
        trace: folder.join("safe.trace"),
        record: Some(folder.join("run.json")),
        delays: Some(seed),
        runs_free,
        ..Order::default()
    };
    ordered(&order, name).output().unwrap()
}

/// Returns the command that runs the program with this order.
fn ordered(order: &Order, name: &str) -> Command {
    let mut command = Command::new(BINARY);
    command.arg(name).env(ENFORCE, order.written());
    command.env("RUST_BACKTRACE", "0").stdin(Stdio::null());
    command
}

const RUNS: u64 = 60;

/// Checks that the program never fails with enforcement, and fails without it.
fn bug_is_prevented(name: &str) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let verified = verify(folder, name, &[]);
    assert_eq!(verified.status.code(), Some(1), "{}", errors(&verified));
    let trace = SafeTrace::load(&folder.join("safe.trace")).unwrap();
    for seed in 1..=RUNS {
        let ran = run(folder, name, seed, false);
        assert!(ran.status.success(), "{}", errors(&ran));
        let recording = Recording::load(&folder.join("run.json")).unwrap();
        let adherence = recording.adherence(&trace.cases[0]);
        let constraints = trace.cases[0].constraints.len();
        assert_eq!(adherence.kept, constraints, "{adherence:?}");
    }
    let failures = |runs_free| {
        let order = Order {
            trace: folder.join("safe.trace"),
            delays: Some(1),
            runs_free,
            ..Order::default()
        };
        let mut command = ordered(&order, name);
        let ran = command.env("REPEAT", repetitions()).output().unwrap();
        assert!(ran.status.success(), "{}", errors(&ran));
        let failures: u64 = said(&ran).trim().parse().unwrap();
        failures
    };
    assert_eq!(failures(false), 0);
    let free = failures(true);
    assert!(free > 0, "without enforcement it does not fail");
    println!(
        "{name}: {} times, {free} wrong without enforcement",
        repetitions()
    );
}

/// Returns how often a program is repeated in one process.
fn repetitions() -> String {
    std::env::var("MAZURKA_REPETITIONS").unwrap_or_else(|_| "3000".to_owned())
}

#[test]
fn a_file_that_has_become_the_safe_trace_of_another_program_is_refused_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    verify(folder, "lost-update", &[]);
    let trace = folder.join("safe.trace");
    let recorded = SafeTrace::load(&trace).unwrap().program_checksum;
    for (checksum, code) in [(recorded, 0), ("another".to_owned(), 2)] {
        let order = Order {
            trace: trace.clone(),
            checksum: Some(checksum),
            ..Order::default()
        };
        let ran = ordered(&order, "lost-update").output().unwrap();
        let message = errors(&ran);
        assert_eq!(ran.status.code(), Some(code), "{message}");
        assert_eq!(message.contains("another program"), code == 2, "{message}");
    }
}

#[test]
fn a_lost_update_is_prevented() {
    bug_is_prevented("lost-update");
}

#[test]
fn the_last_owner_takes_a_value_in_time() {
    bug_is_prevented("unique");
}

#[test]
fn a_violation_of_atomicity_is_prevented() {
    bug_is_prevented("atomicity-violation");
}

#[test]
fn a_violation_of_an_order_is_prevented() {
    bug_is_prevented("order-violation");
}

#[test]
fn the_commands_know_programs_in_rust_and_their_inputs() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let verified = verify(folder, "cells", &["--stop-when", "constraints=1"]);
    assert_eq!(verified.status.code(), Some(3), "{}", errors(&verified));
    let shown = output(folder, &["show", "safe.trace"]);
    assert!(said(&shown).contains("x == y"), "{}", said(&shown));
    let fixed = ["run", "--safe", "safe.trace", "--record", "run.json"];
    for inputs in [["x=1", "y=1"], ["x=0", "y=2"]] {
        let inputs = inputs.map(|input| ["--input", input]).concat();
        let ran = output(folder, &[&fixed, &inputs[..], &[BINARY, "cells"]].concat());
        assert!(ran.status.success(), "{}", errors(&ran));
        let checked = output(folder, &["check-run", "run.json", "safe.trace"]);
        assert!(checked.status.success(), "{}", said(&checked));
        assert!(said(&checked).contains(" 0 broken"));
    }
    for (inputs, part) in [
        (
            &["x=7", "y=1"][..],
            "x = 7 was given, but 0 to 2 were verified",
        ),
        (
            &["x=1", "y=1", "z=1"],
            "--input z: safe.trace has no input of this name; its inputs are x (0 to 2), y (0 to 2)",
        ),
        (
            &["x=1", "y=1", "x=2"],
            "--input x is given twice, with 1 and 2",
        ),
        (&["x=one", "y=1"], "an input is a name and its value: n=3"),
        (&["x=1"], "no value for y (--input y=VALUE) was given"),
    ] {
        let inputs: Vec<&str> = inputs.iter().flat_map(|input| ["--input", input]).collect();
        let refused = output(folder, &[&fixed, &inputs[..], &[BINARY, "cells"]].concat());
        assert_eq!(refused.status.code(), Some(2), "{inputs:?}");
        assert!(errors(&refused).contains(part), "{}", errors(&refused));
        assert_eq!(errors(&refused).lines().count(), 1);
    }
}

/// When the program asks for an input, the value in its environment is one that was not verified.
#[test]
fn a_program_that_asks_for_an_input_that_was_not_verified_ends_with_a_message() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    verify(folder, "unsteady", &[]);
    let run = [
        "run",
        "--safe",
        "safe.trace",
        "--input",
        "x=1",
        BINARY,
        "unsteady",
    ];
    assert_eq!(output(folder, &run).status.code(), Some(0));
    let ran = mazurka(folder, &run).env("ASKS", "1").output().unwrap();
    assert_eq!(ran.status.code(), Some(2));
    let part = "the program asks for an input more, which was not verified";
    assert!(errors(&ran).contains(part), "{}", errors(&ran));
}

#[test]
fn what_cannot_be_enforced_is_refused_when_it_is_verified_and_when_it_runs() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let refused = verify(folder, "poison", &[]);
    assert_eq!(refused.status.code(), Some(2));
    let why = "queries or clears the poisoning of a lock that it does not hold";
    assert!(errors(&refused).contains(why), "{}", errors(&refused));
    verify(folder, "shares", &[]);
    let ran = run(folder, "poison", 1, false);
    assert_eq!(ran.status.code(), Some(2));
    assert!(errors(&ran).contains(why), "{}", errors(&ran));
}

/// With 20,000 threads a leak of forty bytes per thread would be visible.
#[test]
fn threads_that_were_joined_leave_no_memory_behind() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    verify(folder, "many-threads", &[]);
    let run = ["run", "--safe", "safe.trace", BINARY, "many-threads"];
    let mut command = mazurka(folder, &run);
    let ran = command.env("GOES_ON", "1").output().unwrap();
    assert!(ran.status.success(), "{}", errors(&ran));
    let pages: i64 = said(&ran).trim().parse().unwrap();
    assert!(pages < 200, "it has grown by {pages} pages");
}

/// Checks whether the program can run outside a model: `mazurka-actors` exists in models only.
fn is_compared(entry: &corpus::Entry) -> bool {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let directory = entry.name.strip_suffix("-fixed").unwrap_or(entry.name);
    let source = fs::read_to_string(folder.join(directory).join("program.rs")).unwrap();
    !source.contains("actors::")
}

/// The whole first correct execution is enforced, so a run has the same events in the same order.
#[test]
fn a_run_performs_the_events_of_the_verified_execution() {
    let folder = tempfile::tempdir().unwrap();
    let mut problems = Vec::new();
    let mut compared = 0;
    for entry in corpus::all().iter().filter(|entry| is_compared(entry)) {
        let expectation = entry.expectation();
        let sizes = expectation.sizes.first();
        let instance = sizes.and_then(|sizes| entry.with_sizes(&sizes.size));
        let instance = instance.unwrap_or_else(|| entry.with_defaults());
        match difference(folder.path(), &instance.to_string()) {
            Ok(is_compared) => compared += usize::from(is_compared),
            Err(problem) => problems.push(format!("{instance}: {problem}")),
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(compared > 60, "only {compared} programs were compared");
}

/// Compares a run with the first correct execution. Returns whether there is one.
fn difference(folder: &Path, name: &str) -> Result<bool, String> {
    let _ = fs::remove_file(folder.join("safe.trace"));
    let whole = ["--stop-when", "constraints=1000000"];
    verify(folder, name, &whole);
    let Ok(trace) = SafeTrace::load(&folder.join("safe.trace")) else {
        return Ok(false);
    };
    ran_as(folder, name, &trace.cases[0]).map(|()| true)
}

/// Checks that a recorded run performs the events of the execution in its order.
fn ran_as(folder: &Path, name: &str, case: &Case) -> Result<(), String> {
    let ran = run(folder, name, 1, false);
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
