//! Pipes and devices instead of files, and files that would make a command wait forever. No command
//! hangs.
#![cfg(target_os = "linux")]

#[allow(dead_code, reason = "other tests use the rest")]
mod command;

use command::{Ran, mazurka};
use report::{Case, Condition, Constraint, Point, Recorded, Recording, SafeTrace};
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Every command ends within this time, even on a busy machine.
const LATE: Duration = Duration::from_secs(30);

fn pipe(folder: &Path, name: &str) {
    let made = Command::new("mkfifo").arg(folder.join(name)).status();
    assert!(made.unwrap().success());
}

/// Runs the command, which must end soon.
fn ran(folder: &Path, arguments: &str) -> Ran {
    let mut child = mazurka(folder, arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > LATE {
            child.kill().unwrap();
            panic!("{arguments} hangs");
        }
        thread::sleep(Duration::from_millis(2));
    }
    let output = child.wait_with_output().unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        output: String::from_utf8(output.stdout).unwrap(),
        errors: String::from_utf8(output.stderr).unwrap(),
    }
}

#[track_caller]
fn refused(folder: &Path, arguments: &str, part: &str) {
    let ran = ran(folder, arguments);
    assert_eq!(ran.code, 2, "{arguments}: {}{}", ran.output, ran.errors);
    assert_eq!(ran.output, "", "{arguments}");
    assert_eq!(ran.errors.lines().count(), 1, "{arguments}: {}", ran.errors);
    assert!(ran.errors.contains(part), "{arguments}: {}", ran.errors);
}

#[test]
fn pipes_and_devices_are_refused_where_a_file_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for name in ["pipe", "pipe.c", "pipe.cpp"] {
        pipe(folder, name);
    }
    fs::write(folder.join("main.c"), "int main(void) { return 0; }").unwrap();
    for line in [
        "check pipe.c",
        "check main.c pipe.cpp",
        "check main.c ./pipe",
        "check ./pipe",
        "check /dev/zero",
        "check mutex:2 --no-output --resume pipe",
        "check mutex:2 --no-output --checkpoint pipe",
        "check absent.c",
        "check main.c absent.c",
        "check mutex:2 --no-output --suppressions pipe",
        "check mutex:2 --no-output --suppressions /dev/zero",
        "replay pipe",
        "replay /dev/zero",
        "show pipe",
        "check-run pipe pipe",
        "run --safe pipe ./pipe",
        "run --safe main.c ./pipe",
        "verify ./pipe -o safe",
        "verify /dev/zero -o safe",
    ] {
        refused(folder, line, "file");
    }
}

#[test]
fn a_pipe_that_nothing_reads_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    pipe(folder.path(), "pipe");
    refused(
        folder.path(),
        "check lost-update -o pipe",
        "no process reads this pipe",
    );
    refused(
        folder.path(),
        "verify mutex:2 -o pipe",
        "no process reads this pipe",
    );
}

#[test]
fn a_pipe_that_is_read_gets_the_schedule() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    pipe(folder.path(), "pipe");
    let reader = thread::spawn(move || {
        let mut text = String::new();
        fs::File::open(path)
            .unwrap()
            .read_to_string(&mut text)
            .unwrap();
        text
    });
    // The reader may not have opened the pipe yet.
    let start = Instant::now();
    let checked = loop {
        let checked = ran(folder.path(), "check lost-update -o pipe");
        if checked.code != 2 || start.elapsed() > LATE {
            break checked;
        }
    };
    assert_eq!(checked.code, 1, "{}{}", checked.output, checked.errors);
    assert!(reader.join().unwrap().contains("\"steps\""));
}

#[test]
fn a_cyclic_safe_trace_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let program = std::env::current_exe().unwrap();
    let constraint = |first: (u32, u32), then: (u32, u32)| Constraint {
        first: Point::from(first),
        then: Point::from(then),
    };
    let case = Case {
        condition: Condition::always(),
        threads: vec!["0".to_owned(), "0.0".to_owned()],
        constraints: vec![constraint((0, 2), (1, 1)), constraint((1, 1), (0, 1))],
        ..Case::default()
    };
    let trace = SafeTrace {
        program_checksum: SafeTrace::checksum_of(&fs::read(program).unwrap()),
        cases: vec![case],
        ..SafeTrace::default()
    };
    trace.save(&folder.join("cyclic")).unwrap();
    let recorded = Recorded::default();
    let recording = Recording {
        program_checksum: trace.program_checksum.clone(),
        threads: vec![recorded],
        ..Recording::default()
    };
    recording.save(&folder.join("record")).unwrap();
    let cycle = "its constraints form a cycle";
    refused(folder, "show cyclic", cycle);
    refused(folder, "check-run record cyclic", cycle);
    let line = format!("run --safe cyclic {}", env!("CARGO_BIN_EXE_mazurka"));
    refused(folder, &line, "mazurka");
}
