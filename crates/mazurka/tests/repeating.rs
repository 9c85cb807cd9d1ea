//! A test that repeats one schedule. An environment variable names the schedule file.

use mazurka::sync::Arc;
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::{Checker, ScheduleFile, thread};
use std::process::{Command, Output};

/// Two threads increment a counter, each in two steps.
fn count(is_wrong: fn(u32) -> bool) {
    let count = Arc::new(AtomicU32::new(0));
    let other = thread::spawn({
        let count = Arc::clone(&count);
        move || count.store(count.load(SeqCst) + 1, SeqCst)
    });
    count.store(count.load(SeqCst) + 1, SeqCst);
    other.join().unwrap();
    assert!(!is_wrong(count.load(SeqCst)), "wrong");
}

const REPAIRED: &str = "a_repaired_program";

#[test]
fn a_repaired_program() {
    mazurka::model(|| count(|_| false));
}

/// Runs the test above under this schedule.
fn repeat(schedule: &ScheduleFile, name: &str) -> Output {
    let file = format!("mazurka-repeating-{}-{name}", std::process::id());
    let path = std::env::temp_dir().join(file);
    schedule.save(&path).unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", REPAIRED, "--nocapture"])
        .env("MAZURKA_REPLAY", &path)
        .output()
        .unwrap();
    std::fs::remove_file(path).unwrap();
    output
}

fn schedule_of_the_bug() -> ScheduleFile {
    let report = Checker::new()
        .name(REPAIRED)
        .check(|| count(|sum| sum != 2));
    report.errors[0].schedule.clone()
}

#[test]
fn a_schedule_that_shows_no_bug_any_more_passes_with_a_note() {
    let output = repeat(&schedule_of_the_bug(), "fits");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{errors}");
    assert!(errors.contains("no longer shows a bug"), "{errors}");
}

#[test]
fn a_schedule_that_does_not_fit_the_program_fails() {
    let mut schedule = schedule_of_the_bug();
    schedule.steps.push(schedule.steps[0].clone());
    let output = repeat(&schedule, "misfit");
    assert!(!output.status.success());
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("does not fit the program"), "{text}");
}
