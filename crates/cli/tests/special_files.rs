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

/// Files that a command reads keep their content, whatever option names them as outputs.
#[test]
fn no_output_replaces_an_input_or_another_output() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let source = "#include <assert.h>\nint main(void) { assert(0); }";
    fs::write(folder.join("main.c"), source).unwrap();
    fs::write(folder.join("known"), "leak:main\n").unwrap();
    assert_eq!(ran(folder, "cc main.c -o program").code, 0);
    assert_eq!(ran(folder, "check main.c -q").code, 1);
    assert_eq!(ran(folder, "verify mutex:2 -o safe").code, 0);
    for line in [
        "check main.c -o main.c",
        "check main.c -o ./main.c",
        "check main.c --checkpoint main.c",
        "check ./program -o program",
        "check main.c --suppressions known -o known",
        "check main.c --suppressions known --html known",
        "check main.c -o out --html out",
        "check main.c --checkpoint out --junit out",
        "check main.c --dot out --mermaid out",
        "replay main.schedule.json --html main.c",
        "replay main.schedule.json --html main.schedule.json",
        "verify ./program -o program",
        "verify ./program -o safe --html program",
        "verify ./program -o out --html out",
        "show safe --html safe",
        "run --safe safe --record safe ./program",
        "run --safe safe --record program ./program",
    ] {
        let content = |name: &str| fs::read(folder.join(name)).unwrap();
        let names = ["main.c", "known", "program", "safe", "main.schedule.json"];
        let before = names.map(content);
        refused(folder, line, "another option also names this file");
        assert!(before == names.map(content), "{line}");
        assert!(!folder.join("out").exists(), "{line}");
    }
}

/// `verify` removes the safe trace of a program with a data race, but no other file.
#[test]
fn only_a_safe_trace_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let source = "#include <pthread.h>
        static int x;
        static void *run(void *p) { x++; return p; }
        int main(void) { pthread_t t; pthread_create(&t, 0, run, 0); x++; pthread_join(t, 0); }";
    fs::write(folder.join("main.c"), source).unwrap();
    assert_eq!(ran(folder, "cc main.c -o program").code, 0);
    assert_eq!(ran(folder, "verify mutex:2 -o safe").code, 0);
    fs::write(folder.join("notes"), "mine").unwrap();
    for output in ["notes", "safe", "absent", "/dev/null"] {
        let ran = ran(folder, &format!("verify ./program -q -o {output}"));
        assert_eq!(ran.code, 1, "{}", ran.errors);
    }
    assert_eq!(fs::read_to_string(folder.join("notes")).unwrap(), "mine");
    assert!(!folder.join("safe").exists() && !folder.join("absent").exists());
    assert!(Path::new("/dev/null").exists());
}

/// Pages and diagrams are new files. They replace a link, and its target is unchanged.
#[test]
fn a_page_replaces_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for option in ["html", "junit", "dot", "mermaid"] {
        fs::write(folder.join("victim"), "mine").unwrap();
        std::os::unix::fs::symlink("victim", folder.join(option)).unwrap();
        let ran = ran(
            folder,
            &format!("check lost-update --no-output --{option} {option}"),
        );
        assert_eq!(ran.code, 1, "{}", ran.errors);
        assert_eq!(fs::read_to_string(folder.join("victim")).unwrap(), "mine");
        assert!(fs::read(folder.join(option)).unwrap().len() > 100);
    }
    // The system's names of open files are not replaced.
    let ran = ran(folder, "check lost-update --no-output -q --dot /dev/stdout");
    assert!(ran.output.contains("digraph"), "{}", ran.output);
    assert!(Path::new("/dev/stdout").is_symlink());
}

/// One signal ends a command that waits for a reader of its output, or for a compiler that does not
/// even tell its version.
#[test]
fn a_signal_ends_a_command_that_waits_for_others() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("main.c"), "int main(void) { return 0; }").unwrap();
    pipe(folder, "pipe.h");
    fs::write(
        folder.join("endless.c"),
        "#include \"pipe.h\"\nint main(void) { return 0; }",
    )
    .unwrap();
    let long = "#include <assert.h>
        #include <pthread.h>
        #include <stdatomic.h>
        static atomic_int n;
        static void *run(void *p) { for (int i = 0; i < 500; i++) n++; return p; }
        int main(void) { pthread_t t; pthread_create(&t, 0, run, 0); run(0); pthread_join(t, 0); assert(0); }";
    fs::write(folder.join("long.c"), long).unwrap();
    fs::write(folder.join("slow"), "#!/bin/sh\nsleep 100\n").unwrap();
    fs::set_permissions(folder.join("slow"), fs::Permissions::from_mode(0o755)).unwrap();
    for line in [
        "check main.c --cc ./slow --no-output",
        "check endless.c --no-output",
        "check long.c --no-output --format json --all-events",
    ] {
        // No process reads the output, so the last command waits once the pipe is full.
        let mut child = mazurka(folder, line)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_secs(2));
        assert!(child.try_wait().unwrap().is_none(), "{line} has ended");
        let start = Instant::now();
        let sent = Command::new("kill").arg(child.id().to_string()).status();
        assert!(sent.unwrap().success());
        while child.try_wait().unwrap().is_none() {
            if start.elapsed() > LATE {
                child.kill().unwrap();
                panic!("{line} hangs");
            }
            thread::sleep(Duration::from_millis(2));
        }
    }
}
