//! `#[mazurka::test]`: its options, other attributes, and the output of a failing test.

use mazurka::sync::atomic::{AtomicU32, AtomicUsize, Ordering::*};
use mazurka::thread;
use std::process::{Command, Output};

/// Two threads each increment by load and store. Asserts that the count is in this range.
fn updates(expected: std::ops::RangeInclusive<u32>) {
    let count = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| count.store(count.load(SeqCst) + 1, SeqCst));
        }
    });
    assert!(expected.contains(&count.load(SeqCst)), "an update was lost");
}

fn lost_update() {
    updates(2..=2);
}

/// Two threads each increment by `fetch_add`.
fn no_update_lost() {
    let count = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| count.fetch_add(1, SeqCst));
        }
    });
    assert_eq!(count.load(SeqCst), 2);
}

macro_rules! finds_it {
    ($($function:ident $name:literal),*) => {
        $(#[mazurka::test(algorithm = $name, fails = "an update was lost")]
        fn $function() {
            lost_update();
        })*
    };
}

finds_it!(
    exhaustive_finds_it "exhaustive", sleep_finds_it "sleep", classic_finds_it "classic",
    source_finds_it "source", optimal_finds_it "optimal", parsimonious_finds_it "parsimonious",
    random_finds_it "random", pct_finds_it "pct"
);

#[mazurka::test(algorithm = "context-sensitive")]
#[should_panic(expected = "compares states, but the program does not report its state")]
fn an_algorithm_that_does_not_fit_is_explained() {
    lost_update();
}

#[mazurka::test]
fn a_model_without_a_bug_passes() {
    no_update_lost();
}

#[mazurka::test(fails)]
fn any_failure_will_do() {
    lost_update();
}

#[mazurka::test(fails = "deadlock")]
fn the_kind_of_a_failure_will_do() {
    thread::park();
}

#[mazurka::test(fails = "deadlock")]
#[should_panic(
    expected = "expected a failure with \"deadlock\"\n\nbug: panic in another_failure_will_not_do"
)]
fn another_failure_will_not_do() {
    lost_update();
}

#[mazurka::test(fails)]
#[should_panic(expected = "expected a failure\n\nverified: no interleaving")]
fn a_model_that_is_to_fail_must_fail() {
    no_update_lost();
}

#[mazurka::test]
#[should_panic(expected = "an update was lost")]
fn other_attributes_stay_what_they_are() {
    lost_update();
}

#[mazurka::test]
fn what_is_returned_may_be_a_result() -> Result<(), String> {
    no_update_lost();
    Ok(())
}

#[mazurka::test]
#[should_panic(expected = "the test returned an error: \"nobody came\"")]
fn an_error_that_is_returned_is_a_failure() -> Result<(), &'static str> {
    Err("nobody came")
}

#[mazurka::test]
async fn a_future_is_blocked_on() -> Result<(), String> {
    async { no_update_lost() }.await;
    Ok(())
}

#[mazurka::test(max_executions = 1)]
fn a_limit_of_the_attribute_may_be_met() {
    no_update_lost();
}

#[mazurka::test(preemptions = 0)]
fn a_bound_of_the_attribute_may_be_met() {
    lost_update();
}

/// A bound on preemptions needs sequential consistency. A search under RC11 follows.
#[mazurka::test(preemptions = 2, fails = "an old message")]
fn a_bound_hides_no_missing_ordering() {
    let shared = std::sync::Arc::new([0, 0].map(AtomicUsize::new));
    let sender = {
        let shared = std::sync::Arc::clone(&shared);
        thread::spawn(move || {
            shared[0].store(1, Relaxed);
            shared[1].store(1, Relaxed);
        })
    };
    if shared[1].load(Acquire) == 1 {
        assert_eq!(shared[0].load(Relaxed), 1, "an old message");
    }
    sender.join().unwrap();
}

#[mazurka::test(algorithm = "random", seed = 7, time_limit = "1h", max_executions = 20)]
fn an_algorithm_that_proves_nothing_may_be_chosen() {
    no_update_lost();
}

#[mazurka::test(preemptions = 0)]
#[should_panic(expected = "limit of 2 on expired timeouts of a thread")]
fn another_limit_is_a_failure() {
    for _ in 0..3 {
        thread::park_timeout(std::time::Duration::from_secs(1));
    }
}

#[mazurka::test(panics_fail, fails = "observed")]
fn flags_reach_the_checker() {
    let _ = thread::spawn(|| panic!("observed")).join();
}

// Tests in separate processes.

/// An environment variable. Its value `broken` makes the tests of the module `fixture` fail;
/// otherwise they pass.
const FIXTURE: &str = "MAZURKA_FIXTURE";

mod fixture {
    use super::{FIXTURE, updates};

    fn fixture() {
        let is_broken = std::env::var(FIXTURE).is_ok_and(|state| state == "broken");
        updates(if is_broken { 2..=2 } else { 1..=2 });
    }

    #[mazurka::test]
    fn fails_as_attribute() {
        fixture();
    }

    #[test]
    fn fails_as_call() {
        mazurka::model(fixture);
    }
}

/// Returns a command that runs this executable with these arguments.
fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(arguments).env(FIXTURE, "broken");
    command.env_remove("NEXTEST").env_remove("RUSTFLAGS");
    command
}

fn text(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    String::from_utf8_lossy(out).into_owned() + &String::from_utf8_lossy(err)
}

/// Returns the line of the output with the command that repeats the failure.
fn line_of(text: &str) -> &str {
    let mut lines = text.lines();
    let line = lines.find_map(|line| line.trim().strip_prefix("repeat it:"));
    line.unwrap_or_else(|| panic!("{text}")).trim()
}

/// Returns the schedule file that the command names.
fn file_of(line: &str) -> &str {
    let (_, rest) = line.split_once("MAZURKA_REPLAY=").unwrap();
    rest.split(' ').next().unwrap()
}

#[test]
fn a_failure_is_shown_once_and_its_line_repeats_it_in_a_fresh_process() {
    for test in ["fixture::fails_as_attribute", "fixture::fails_as_call"] {
        let failed = text(&program(&["--exact", test]).output().unwrap());
        assert_eq!(failed.matches("bug: panic in").count(), 1, "{failed}");
        assert!(
            failed.contains(&format!("bug: panic in {test}")),
            "{failed}"
        );
        let line = line_of(&failed);
        assert!(line.contains("cargo test"), "{line}");
        assert!(
            line.ends_with(&format!(" -p mazurka {test} -- --exact")),
            "{line}"
        );

        let mut again = program(&["--exact", test]);
        let again = text(&again.env("MAZURKA_REPLAY", file_of(line)).output().unwrap());
        assert!(
            again.contains("bound: one schedule was repeated"),
            "{again}"
        );
        assert!(again.contains("an update was lost"), "{again}");
        assert!(again.contains("1 failed"), "{again}");
    }
}

#[test]
fn a_schedule_that_shows_no_bug_any_more_passes_with_a_note() {
    let test = "fixture::fails_as_attribute";
    let failed = text(&program(&["--exact", test]).output().unwrap());
    let mut repaired = program(&["--exact", test, "--nocapture"]);
    repaired.env("MAZURKA_REPLAY", file_of(line_of(&failed)));
    let repaired = text(&repaired.env(FIXTURE, "repaired").output().unwrap());
    assert!(repaired.contains("1 passed"), "{repaired}");
    assert!(
        repaired.contains("unset the variable to check all interleavings"),
        "{repaired}"
    );
}

/// nextest sets an environment variable and runs each test in a separate process, as this test
/// does.
#[test]
fn under_nextest_the_line_is_one_for_nextest() {
    let test = "fixture::fails_as_attribute";
    let mut command = program(&["--exact", test, "--nocapture"]);
    let failed = text(&command.env("NEXTEST", "1").output().unwrap());
    let line = line_of(&failed);
    assert!(line.contains(" cargo nextest run "), "{line}");
    assert!(line.ends_with(&format!("-E 'test(={test})'")), "{line}");
}

/// Runs the same test and others in several processes with several threads each.
#[test]
fn models_in_processes_and_threads_do_not_disturb_each_other() {
    let start = |_| {
        let mut command = program(&[
            "--test-threads",
            "4",
            "--skip",
            "processes",
            "--skip",
            "nextest",
            "--skip",
            "schedule",
            "--skip",
            "shown_once",
        ]);
        command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        command.spawn().unwrap()
    };
    let children: Vec<_> = (0..3).map(start).collect();
    for child in children {
        let output = text(&child.wait_with_output().unwrap());
        // The two fixtures fail; the other tests behave as when run alone.
        assert!(output.contains("; 2 failed;"), "{output}");
        assert_eq!(
            output.matches("bug: panic in fixture::").count(),
            2,
            "{output}"
        );
    }
}
