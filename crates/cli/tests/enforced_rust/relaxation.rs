//! Verifications that stop early, and runs that follow a verification in progress.

use crate::{BINARY, errors, mazurka, output, run, said, verify};
use report::{Case, Constraint, Point, Recording, SafeTrace};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

fn trace(folder: &Path) -> SafeTrace {
    SafeTrace::load(&folder.join("safe.trace")).unwrap()
}

#[test]
fn a_verification_stops_at_the_given_condition() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // There are 589,824 executions, and 16 constraints at first.
    let enough = |stop: &str| {
        let verified = verify(folder, "lastzero:16", &["--stop-when", stop]);
        assert_eq!(verified.status.code(), Some(3), "{}", errors(&verified));
        let case = trace(folder).cases.remove(0);
        assert_eq!(case.constraints_at_first, 16);
        (case.constraints.len(), case.executions)
    };
    assert_eq!(enough("constraints=16"), (16, 1));
    assert_eq!(enough("constraints=13").0, 13);
    // No run is a hundred thousand times slower, so the verification stops early.
    assert!(enough("overhead=10000000%").1 < 589_824);
    // Verifying this program takes hours.
    let verified = verify(folder, "lastzero:40", &["--stop-when", "time=1s"]);
    assert_eq!(verified.status.code(), Some(3), "{}", errors(&verified));
    assert!(!trace(folder).cases[0].is_complete);
}

#[test]
fn the_first_execution_may_be_one_in_which_few_threads_wait() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let first = |preference| {
        let options = ["--prefer", preference, "--stop-when", "constraints=1"];
        let verified = verify(folder, "late-writer", &options);
        assert_eq!(verified.status.code(), Some(3), "{}", errors(&verified));
        trace(folder).cases[0].constraints[0].first.index
    };
    // Either the reader waits for all 1,501 events of the writer, or the writer waits for one event
    // of the reader.
    assert_eq!(first("any"), 1501);
    assert_eq!(first("few-waiting"), 1);
}

/// Saves a trace, with a constraint if `is_kept` is true. The program cannot keep this constraint:
/// main joins the thread that would wait for main.
fn pretend(folder: &Path, file: &str, is_kept: bool) {
    let [first, then] = [(0, 2), (1, 1)].map(|(thread, index)| Point { thread, index });
    let case = Case {
        threads: ["0", "0.0", "0.1"].map(str::to_owned).to_vec(),
        constraints: is_kept
            .then_some(Constraint { first, then })
            .into_iter()
            .collect(),
        events_of_prefix: 4,
        ..Case::default()
    };
    let trace = SafeTrace {
        program: "lost-update".to_owned(),
        program_checksum: SafeTrace::checksum_of(&fs::read(BINARY).unwrap()),
        arguments: vec!["lost-update".to_owned()],
        cases: vec![case],
        ..SafeTrace::default()
    };
    trace.save(&folder.join(file)).unwrap();
}

#[test]
fn a_program_that_runs_follows_a_relaxed_trace() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    pretend(folder, "safe.trace", true);
    pretend(folder, "relaxed.trace", false);
    let arguments = [
        "run",
        "--safe",
        "safe.trace",
        "--patience",
        "50",
        BINARY,
        "lost-update",
    ];
    let mut command = mazurka(folder, &arguments);
    let mut running: Child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut errors = BufReader::new(running.stderr.take().unwrap());
    let mut line = String::new();
    errors.read_line(&mut line).unwrap();
    let expected = "no progress: thread 0.0 waits for event 2 of thread 0;";
    assert!(line.contains(expected), "{line}");
    fs::rename(folder.join("relaxed.trace"), folder.join("safe.trace")).unwrap();
    assert!(running.wait().unwrap().success());
}

/// Starts a verification that takes hours, and waits until something is verified.
fn begin(folder: &Path) -> Child {
    let arguments = ["verify", "-q", "-o", "safe.trace", BINARY, "lastzero:40"];
    let mut command = mazurka(folder, &arguments);
    let mut verification = command.stdout(Stdio::null()).spawn().unwrap();
    while !folder.join("safe.trace").exists() {
        assert!(verification.try_wait().unwrap().is_none());
        std::thread::yield_now();
    }
    verification
}

#[test]
fn runs_keep_to_all_that_is_verified_later_while_a_verification_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut verification = begin(folder);
    let runs: Vec<Recording> = (1..=40)
        .map(|seed| {
            let ran = run(folder, "lastzero:40", seed, false);
            assert!(ran.status.success(), "{}", errors(&ran));
            Recording::load(&folder.join("run.json")).unwrap()
        })
        .collect();
    verification.kill().unwrap();
    verification.wait().unwrap();
    let trace = trace(folder);
    for run in runs {
        let adherence = run.adherence(&trace.cases[0]);
        assert!(adherence.broken.is_empty(), "{adherence:?}");
        assert!(adherence.kept > 0);
    }
}

#[test]
fn a_verification_that_is_interrupted_or_killed_leaves_what_it_published() {
    for (signal, code) in [("-INT", Some(3)), ("-TERM", Some(3)), ("-KILL", None)] {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let mut verification = begin(folder);
        let id = verification.id().to_string();
        assert!(
            Command::new("kill")
                .args([signal, &id])
                .status()
                .unwrap()
                .success()
        );
        assert_eq!(verification.wait().unwrap().code(), code, "{signal}");
        assert!(!trace(folder).cases[0].constraints.is_empty());
        let shown = output(folder, &["show", "safe.trace"]);
        assert!(
            said(&shown).contains("constraints left"),
            "{}",
            said(&shown)
        );
        let arguments = ["run", "--safe", "safe.trace", BINARY, "lastzero:40"];
        assert!(output(folder, &arguments).status.success());
        // No other files are left.
        assert_eq!(fs::read_dir(folder).unwrap().count(), 1, "{signal}");
    }
}
