//! Searches that are interrupted or killed, and then resumed.
#![cfg(unix)]

mod command;

use command::{mazurka, run};
use explore::Algorithm;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

/// Starts the command and waits until it has saved the state of its search.
fn start(directory: &Path, arguments: &str, checkpoint: &Path) -> Child {
    let mut child = mazurka(directory, arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while fs::metadata(checkpoint).map_or(0, |file| file.len()) == 0 {
        if let Some(status) = child.try_wait().unwrap() {
            panic!("{arguments} ended before it saved anything: {status}");
        }
        thread::sleep(Duration::from_millis(1));
    }
    child
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill")
        .args([name, &child.id().to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
}

/// Returns the totals that must not depend on how often the search was killed.
fn totals(report: &Value) -> Vec<&Value> {
    [
        "verdict",
        "executions",
        "halted",
        "blocked",
        "deadlocks",
        "events",
        "max_depth",
    ]
    .iter()
    .map(|field| &report[*field])
    .collect()
}

#[test]
fn an_interrupted_search_reports_what_it_has_and_exits_3() {
    for name in ["-INT", "-TERM"] {
        let directory = tempfile::tempdir().unwrap();
        let checkpoint = directory.path().join("state");
        let child = start(
            directory.path(),
            "check mutex:4,8 --format json --checkpoint state",
            &checkpoint,
        );
        signal(&child, name);
        let output = child.wait_with_output().unwrap();
        assert_eq!(
            output.status.code(),
            Some(3),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["verdict"], "bounded");
        assert!(report["executions"].is_u64());
        assert_eq!(report["bounds"], serde_json::json!(["interrupted"]));
    }
}

#[test]
fn a_killed_search_goes_on_to_the_same_totals() {
    for algorithm in Algorithm::general() {
        let (size, code) = match (algorithm.is_exhaustive(), algorithm.proves()) {
            (true, _) => ("mutex:2,3", 0),
            (false, true) => ("casw:4", 0),
            (false, false) => ("mutex:3,3 --seed 5 --max-executions 5000", 3),
        };
        let directory = tempfile::tempdir().unwrap();
        let arguments = format!("check {size} --algorithm {algorithm} --format json");
        let whole = run(directory.path(), &arguments).json();
        let checkpoint = directory.path().join("state");
        let mut child = start(
            directory.path(),
            &format!("{arguments} --checkpoint state"),
            &checkpoint,
        );
        let mut kills = 0;
        let resumed = loop {
            // Each attempt is killed later than the previous one. The last attempts may finish.
            thread::sleep(Duration::from_millis(10 + 7 * kills));
            child.kill().unwrap();
            let status: ExitStatus = child.wait().unwrap();
            kills += 1;
            let resume = format!("{arguments} --checkpoint state --resume state");
            if status.success() || kills == 5 {
                break run(directory.path(), &resume);
            }
            child = mazurka(directory.path(), &resume)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
        };
        assert_eq!(
            resumed.code, code,
            "{algorithm}: {}{}",
            resumed.output, resumed.errors
        );
        let resumed = resumed.json();
        assert_eq!(
            totals(&resumed),
            totals(&whole),
            "{algorithm} after {kills} kills"
        );
    }
}

/// Starts a comparison that would take hours, and waits for the searching process. Returns both.
#[cfg(target_os = "linux")]
fn start_comparison(directory: &Path) -> (Child, String) {
    let arguments = "compare mutex:9,9 --algorithm source,optimal --time-limit 9h --format json";
    let mut parent = mazurka(directory, arguments)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let children = format!("/proc/{0}/task/{0}/children", parent.id());
    loop {
        let numbers = fs::read_to_string(&children).unwrap();
        if let Some(child) = numbers.split_whitespace().next() {
            return (parent, child.to_owned());
        }
        assert_eq!(parent.try_wait().unwrap(), None);
        thread::sleep(Duration::from_millis(1));
    }
}

/// Waits until the process has ended, whether or not its parent has waited for it.
#[cfg(target_os = "linux")]
fn await_end(process: &str) {
    let status = format!("/proc/{process}/status");
    while fs::read_to_string(&status).is_ok_and(|status| !status.contains("State:\tZ")) {
        thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_comparison_ends_the_running_search_and_shows_its_row() {
    let directory = tempfile::tempdir().unwrap();
    let (parent, child) = start_comparison(directory.path());
    signal(&parent, "-INT");
    let output = parent.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    await_end(&child);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = json["measured"].as_array().unwrap();
    assert_eq!(rows.len(), 1, "{json}");
    assert_eq!(rows[0]["algorithm"], "source");
}

#[cfg(target_os = "linux")]
#[test]
fn a_killed_comparison_leaves_no_process_behind() {
    let directory = tempfile::tempdir().unwrap();
    let (mut parent, child) = start_comparison(directory.path());
    parent.kill().unwrap();
    parent.wait().unwrap();
    await_end(&child);
}

#[test]
fn a_state_of_another_search_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let saved = run(
        directory.path(),
        "check mutex:3,3 --max-executions 9 --checkpoint state",
    );
    assert_eq!(saved.code, 3, "{}", saved.errors);
    for (arguments, what) in [
        ("check mutex:3,2 --resume state", "mutex:3,3"),
        ("check casrot:4 --resume state", "mutex:3,3"),
        (
            "check mutex:3,3 --algorithm optimal --resume state",
            "parsimonious",
        ),
        (
            "check mutex:3,3 --preemptions 2 --resume state",
            "preemption bound",
        ),
    ] {
        let ran = run(directory.path(), arguments);
        assert_eq!(ran.code, 2, "{arguments}: {}{}", ran.output, ran.errors);
        assert_eq!(ran.errors.lines().count(), 1, "{arguments}: {}", ran.errors);
        assert!(ran.errors.contains(what), "{arguments}: {}", ran.errors);
    }
}
