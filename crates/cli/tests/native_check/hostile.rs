//! Programs that try in many ways not to end. A time limit or a signal must end all their
//! processes.

use crate::toolchain::Toolchain;
use report::{Constraint, Point, SafeTrace};
use std::fs;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The number of ways in `hostile.c`.
const WAYS: u32 = 57;
/// Every command ends within this time, even on a busy machine.
const LATE: Duration = Duration::from_secs(40);

fn built() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/native_check/hostile.c");
    let program = folder.path().join("hostile");
    Toolchain::first()
        .build(&source, &["-w".to_owned()], &program)
        .unwrap();
    folder
}

fn start(folder: &Path, way: u32, options: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
    command
        .arg("check")
        .args(options)
        .arg("./hostile")
        .arg(way.to_string());
    command.current_dir(folder).stdin(Stdio::null());
    // Some programs send signals to their process group, which must not be the group of the tests.
    command
        .process_group(0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits for the end of the command. The end must come within `LATE`.
fn end(mut child: Child, way: u32) -> Output {
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > LATE {
            child.kill().unwrap();
            panic!("way {way} hangs");
        }
        thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap()
}

/// Returns the processes that run this program in this folder.
fn left(folder: &Path) -> Vec<String> {
    let program = folder.join("hostile").canonicalize().unwrap();
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let is_left = |process: &fs::DirEntry| {
        fs::read_link(process.path().join("exe")).is_ok_and(|exe| exe == program)
    };
    processes
        .filter(is_left)
        .map(|process| process.path().display().to_string())
        .collect()
}

/// Checks the output: nothing is verified. If a process was killed, its last known schedule is
/// shown.
fn judge(output: &Output, way: u32) {
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    let code = output.status.code();
    // In this way, the program kills the command. Only the check that no process is left matters.
    if way == 55 && output.status.signal() == Some(9) {
        return;
    }
    // The checker undoes the effects of these ways, or they do not concern the check.
    let is_harmless = [10, 22, 23].contains(&way);
    assert!(
        matches!(code, Some(1..=3)) || is_harmless && code == Some(0),
        "way {way}: {:?} {printed}{errors}",
        output.status
    );
    assert!(
        !printed.is_empty() || errors.lines().count() == 1,
        "way {way}: {errors}"
    );
    if printed.contains("was killed") && way != 26 && way != 37 {
        // On a busy machine, the signal may come before the first execution.
        let has_ended_none = printed.contains("0 executions that had ended");
        assert!(
            printed.contains("last known schedule") || has_ended_none,
            "way {way}: {printed}"
        );
    }
    if [0, 12, 13].contains(&way) {
        assert!(
            printed.contains("did not stop and was killed"),
            "way {way}: {printed}{errors}"
        );
        assert!(
            printed.contains("execution 1 (threads and their numbers of steps): main 2, T0 1"),
            "{printed}"
        );
        assert_eq!(code, Some(3));
    }
}

/// Runs all ways, several at a time.
fn for_all(folder: &Path, run: impl Fn(u32) -> Output + Sync) {
    let next = AtomicU32::new(0);
    let work = || {
        loop {
            let way = next.fetch_add(1, Relaxed);
            if way >= WAYS {
                break;
            }
            judge(&run(way), way);
        }
    };
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(work);
        }
    });
    let start = Instant::now();
    while !left(folder).is_empty() {
        assert!(start.elapsed() < LATE, "{:?}", left(folder));
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_time_limit_ends_every_check() {
    let folder = built();
    let options = ["--no-output", "--time-limit", "1s"];
    for_all(folder.path(), |way| {
        end(start(folder.path(), way, &options), way)
    });
}

#[test]
fn one_signal_ends_every_check() {
    let folder = built();
    for_all(folder.path(), |way| {
        let child = start(folder.path(), way, &["--no-output"]);
        thread::sleep(Duration::from_millis(300));
        let id = child.id().to_string();
        let signal = if way % 2 == 0 { "-TERM" } else { "-INT" };
        // The command may have ended already.
        Command::new("kill")
            .args([signal, &id])
            .stderr(Stdio::null())
            .status()
            .unwrap();
        end(child, way)
    });
}

#[test]
fn a_run_under_constraints_that_form_a_cycle_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("program.c");
    fs::write(&source, PROGRAM).unwrap();
    let program = folder.path().join("program");
    Toolchain::first().build(&source, &[], &program).unwrap();
    let run = |line: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
        command.args(line.split(' ')).current_dir(folder.path());
        command.output().unwrap()
    };
    let verified = run("verify ./program -o safe");
    assert_eq!(verified.status.code(), Some(0), "{verified:?}");
    let path = folder.path().join("safe");
    let mut trace = SafeTrace::load(&path).unwrap();
    assert_eq!(run("run --safe safe ./program").status.code(), Some(0));
    let case = &mut trace.cases[0];
    let [main, thread] = ["0", "0.0"].map(|wanted| {
        let number = case.threads.iter().position(|path| path == wanted);
        number.unwrap_or_else(|| {
            case.threads.push(wanted.to_owned());
            case.threads.len() - 1
        }) as u32
    });
    let point = |thread, index| Point { thread, index };
    let [first, then] = [point(main, 1), point(thread, 1)];
    case.constraints = vec![
        Constraint { first, then },
        Constraint {
            first: then,
            then: first,
        },
    ];
    case.is_complete = false;
    trace.save(&path).unwrap();
    let refused = run("run --safe safe ./program");
    let errors = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2), "{errors}");
    assert!(
        errors.contains("form a cycle") && errors.lines().count() == 1,
        "{errors}"
    );
}

const PROGRAM: &str = "
#include <pthread.h>
#include <stdatomic.h>
static atomic_int shared;
static void *add(void *p) { atomic_fetch_add(&shared, 1); return p; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, add, NULL);
    atomic_fetch_add(&shared, 1);
    pthread_join(thread, NULL);
    return 0;
}
";
