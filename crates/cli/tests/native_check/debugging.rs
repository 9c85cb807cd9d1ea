//! Replays a schedule in gdb, which stops where the program fails.

use crate::toolchain::Toolchain;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

const LOST_UPDATE: &str = "
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int counter;
static void *add(void *p) { atomic_store(&counter, atomic_load(&counter) + 1); return p; }
static void look(int wanted) { assert(atomic_load(&counter) == wanted); }
int main(void) {
    pthread_t other;
    pthread_create(&other, NULL, add, NULL);
    add(NULL);
    pthread_join(other, NULL);
    look(2);
    return 0;
}
";

const DEADLOCK: &str = "
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void both(pthread_mutex_t *one, pthread_mutex_t *other) {
    pthread_mutex_lock(one);
    pthread_mutex_lock(other);
    pthread_mutex_unlock(other);
    pthread_mutex_unlock(one);
}
static void *second(void *p) { both(&b, &a); return p; }
int main(void) {
    pthread_t other;
    pthread_create(&other, NULL, second, NULL);
    both(&a, &b);
    pthread_join(other, NULL);
    return 0;
}
";

const STALE_READ: &str = "
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int data, flag;
static void *publish(void *p) {
    atomic_store_explicit(&data, 42, memory_order_relaxed);
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    return p;
}
static void look(int seen) { assert(seen == 42); }
int main(void) {
    pthread_t other;
    pthread_create(&other, NULL, publish, NULL);
    if (atomic_load_explicit(&flag, memory_order_acquire))
        look(atomic_load_explicit(&data, memory_order_relaxed));
    pthread_join(other, NULL);
    return 0;
}
";

/// Returns a folder with a faulty program, and a schedule that shows its bug.
fn failed(text: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("lost.c");
    fs::write(&source, text).unwrap();
    let toolchain = Toolchain::first();
    let executable = folder.path().join("lost");
    toolchain.build(&source, &[], &executable).unwrap();
    let mut check = command(folder.path());
    let checked = check.args(["check", "./lost"]).output().unwrap();
    assert_eq!(checked.status.code(), Some(1));
    folder
}

fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
    command.current_dir(folder).env("TMPDIR", folder);
    command
}

/// Replays in gdb with these lines as input.
fn debugged(folder: &Path, lines: &str) -> Output {
    let mut replay = command(folder);
    replay.args(["replay", "lost.schedule.json", "--gdb"]);
    let piped = replay
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(lines.as_bytes()).unwrap();
    drop(input);
    child.wait_with_output().unwrap()
}

#[test]
fn a_debugger_stops_where_the_program_failed() {
    if Command::new("gdb").arg("--version").output().is_err() {
        println!("gdb is missing: nothing is debugged");
        return;
    }
    let folder = failed(LOST_UPDATE);
    let before = fs::read_dir(folder.path()).unwrap().count();
    let said = debugged(folder.path(), "backtrace\nquit\n");
    let text = String::from_utf8_lossy(&said.stdout);
    assert!(text.contains("`atomic_load(&counter) == wanted`"), "{text}");
    assert!(text.contains("look (wanted=2)"), "{text}");
    let said = debugged(folder.path(), "continue\n");
    let text = String::from_utf8_lossy(&said.stdout);
    assert!(text.contains("assertion failed"), "{text}");
    assert_eq!(said.status.code(), Some(1), "{text}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), before);
}

#[test]
fn a_debugger_stops_at_the_lock_that_makes_a_deadlock() {
    if Command::new("gdb").arg("--version").output().is_err() {
        println!("gdb is missing: nothing is debugged");
        return;
    }
    let folder = failed(DEADLOCK);
    let said = debugged(folder.path(), "backtrace\nprint b\nquit\n");
    let text = String::from_utf8_lossy(&said.stdout);
    assert!(text.contains("deadlock: this thread waits"), "{text}");
    assert!(
        text.contains("both (one=") && text.contains("lost.c:6"),
        "{text}"
    );
}

/// The program gets the old value. Memory contains the newer value.
#[test]
fn a_debugger_stops_after_the_read_of_an_old_value() {
    if Command::new("gdb").arg("--version").output().is_err() {
        println!("gdb is missing: nothing is debugged");
        return;
    }
    let folder = failed(STALE_READ);
    let said = debugged(folder.path(), "backtrace\nprint data\nquit\n");
    let text = String::from_utf8_lossy(&said.stdout);
    assert!(text.contains("look (seen=0)"), "{text}");
    assert!(text.contains("= 42"), "{text}");
}

#[test]
fn a_missing_debugger_is_reported_in_one_line() {
    let folder = failed(LOST_UPDATE);
    let mut replay = command(folder.path());
    replay.args(["replay", "lost.schedule.json", "--gdb"]);
    let said = replay.env("PATH", folder.path()).output().unwrap();
    let errors = String::from_utf8_lossy(&said.stderr);
    assert_eq!(said.status.code(), Some(2), "{errors}");
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(errors.contains("gdb cannot be run"), "{errors}");
    let mut usual = command(folder.path());
    usual.args(["replay", "lost.schedule.json"]);
    assert_eq!(usual.output().unwrap().status.code(), Some(1));
}
