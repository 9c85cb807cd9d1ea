//! Checkpoints: a search that resumes from one ends with the same totals.

use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::sync::{Arc, Mutex, TryLockError};
use mazurka::{Algorithm, CheckError, Checker, Report, Verdict, choose, thread};
use std::cell::Cell;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// A temporary file that is removed afterwards.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> Temporary {
        Temporary(std::env::temp_dir().join(format!("mazurka-{}-{name}", std::process::id())))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// n threads, each of which tries a lock before locking it.
fn tries(threads: u32) {
    let shared = Arc::new((Mutex::new(0), AtomicU32::new(0)));
    let threads: Vec<_> = (0..threads)
        .map(|n| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                if let Err(TryLockError::WouldBlock) = shared.0.try_lock() {
                    shared.1.fetch_add(n, SeqCst);
                }
                *shared.0.lock().unwrap() += 1;
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_ne!(shared.1.load(SeqCst), 1, "the second one failed");
}

fn program() {
    tries(2);
}

fn numbers(report: &Report) -> (Verdict, [u64; 5], usize, Vec<(String, u64)>) {
    let errors = report
        .errors
        .iter()
        .map(|error| (error.message.clone(), error.execution));
    (
        report.verdict,
        [
            report.executions,
            report.halted,
            report.blocked,
            report.deadlocks,
            report.events,
        ],
        report.max_depth,
        errors.collect(),
    )
}

/// Compares a search in pieces with an uninterrupted search. `pieces` are the numbers of executions
/// of the pieces.
fn compare(algorithm: Algorithm, pieces: &[u64], program: fn()) {
    let file = Temporary::new(&format!("{algorithm}-in-{}", pieces.len()));
    let checker = || {
        let checker = Checker::new().algorithm(algorithm).keep_going(true);
        if algorithm.proves() {
            checker
        } else {
            checker.max_executions(60)
        }
    };
    let whole = checker().check(program);
    let mut piece = checker()
        .max_executions(pieces[0])
        .checkpoint(&file.0)
        .check(program);
    for &executions in &pieces[1..] {
        assert!(
            piece.executions + piece.halted < whole.executions + whole.halted,
            "{algorithm}"
        );
        piece = checker()
            .max_executions(executions)
            .resume(&file.0)
            .checkpoint(&file.0)
            .check(program);
    }
    let rest = checker().resume(&file.0).check(program);
    assert_eq!(numbers(&rest), numbers(&whole), "{algorithm}");
}

#[test]
fn a_resumed_search_ends_with_the_same_totals() {
    for algorithm in Algorithm::general() {
        compare(algorithm, &[3, 4, 7], || tries(2));
    }
}

#[test]
fn a_long_search_in_pieces_ends_with_the_same_totals() {
    for algorithm in [
        Algorithm::Source,
        Algorithm::Optimal,
        Algorithm::Parsimonious,
    ] {
        compare(algorithm, &[1, 20, 21, 400, 1000], || tries(3));
    }
}

#[test]
fn a_search_that_was_stopped_before_its_first_execution_goes_on() {
    for algorithm in Algorithm::general() {
        let file = Temporary::new(&format!("{algorithm}-none"));
        let checker = || {
            Checker::new()
                .algorithm(algorithm)
                .max_executions(5)
                .keep_going(true)
        };
        let stop = std::sync::Arc::new(AtomicBool::new(true));
        let nothing = checker().checkpoint(&file.0).stop(stop).check(program);
        assert_eq!(nothing.executions, 0);
        let rest = checker().resume(&file.0).check(program);
        assert_eq!(
            numbers(&rest),
            numbers(&checker().check(program)),
            "{algorithm}"
        );
    }
}

/// Three executions of 9,000 events.
fn long(mut at: impl FnMut(u32)) {
    let x = AtomicU32::new(choose(3));
    for step in 1..9_000 {
        x.load(SeqCst);
        at(step);
    }
}

#[test]
fn a_search_that_was_stopped_in_the_middle_of_an_execution_repeats_it() {
    let file = Temporary::new("middle");
    let stop = std::sync::Arc::new(AtomicBool::new(false));
    let steps = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
    let (flag, after, runs) = (
        std::sync::Arc::clone(&stop),
        std::sync::Arc::clone(&steps),
        Cell::new(0),
    );
    let checker = Checker::new().stop(stop).checkpoint(&file.0);
    let stopped = checker.check(move || {
        runs.set(runs.get() + 1);
        long(|step| {
            let is_over = flag.fetch_or(runs.get() == 2 && step == 100, SeqCst);
            after.fetch_add(u32::from(is_over), SeqCst);
        });
    });
    assert_eq!((stopped.verdict, stopped.executions), (Verdict::Bounded, 1));
    assert_eq!((stopped.events, stopped.bounds.len()), (9_000, 1));
    let steps = steps.load(SeqCst);
    assert!(steps <= 1_024, "{steps} steps more");
    let rest = Checker::new().resume(&file.0).check(|| long(|_| ()));
    assert_eq!(
        numbers(&rest),
        numbers(&Checker::new().check(|| long(|_| ())))
    );
}

#[test]
fn a_checkpoint_of_another_search_is_refused() {
    let file = Temporary::new("other");
    Checker::new()
        .name("one")
        .max_executions(3)
        .checkpoint(&file.0)
        .check(program);
    let one = || Checker::new().name("one");
    for (checker, what) in [
        (
            Checker::new().name("two"),
            "program is one, but two was requested",
        ),
        (Checker::new(), "program is one, but unnamed was requested"),
        (
            one().algorithm(Algorithm::Source),
            "algorithm is parsimonious, but source was requested",
        ),
        (
            one().preemptions(2),
            "preemption bound is none, but 2 was requested",
        ),
        (
            one().max_events(50),
            "limit on operations per thread is 10,000, but 50 was requested",
        ),
        (
            one().timeouts(5),
            "limit on timeouts per thread is 2, but 5 was requested",
        ),
        (
            one().panics_fail(true),
            "verdict on panics that the program handles is no bug, but a bug was requested",
        ),
        (
            one().waiting_after_main(true),
            "verdict on threads that still wait when main returns is a bug, but no bug was requested",
        ),
        (
            one().keep_going(true),
            "behaviour after a bug is to stop, but to continue was requested",
        ),
    ] {
        match checker.resume(&file.0).try_check(program) {
            Err(error @ CheckError::ForeignCheckpoint { .. }) => {
                let text = error.to_string();
                assert!(
                    text.ends_with(&format!("another search: its {what}")),
                    "{text}"
                );
            }
            other => panic!("{what}: {other:?}"),
        }
    }
}

#[test]
fn a_file_that_is_no_checkpoint_is_refused() {
    let file = Temporary::new("none");
    let refused = || match Checker::new().resume(&file.0).try_check(program) {
        Err(CheckError::Unreadable { reason, .. }) => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(), "there is no such file or directory");
    std::fs::write(&file.0, "something else").unwrap();
    assert!(refused().contains("damaged"));
}

#[test]
fn a_checkpoint_that_cannot_be_written_is_reported() {
    let result = Checker::new()
        .checkpoint("/nowhere/at/all")
        .try_check(program);
    assert!(
        matches!(result, Err(CheckError::Unwritable { .. })),
        "{result:?}"
    );
}

/// The folder of the checkpoint disappears in the first execution. The results are not lost.
#[test]
fn a_checkpoint_that_can_no_longer_be_written_is_a_warning() {
    for jobs in [1, 2] {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("state");
        let gone = folder.path().to_owned();
        let checker = Checker::new()
            .keep_going(true)
            .checkpoint(&place)
            .checkpoint_interval(1);
        let program = move || {
            let _ = std::fs::remove_dir_all(&gone);
            program();
        };
        let report = match jobs {
            1 => checker.check(program),
            jobs => checker.jobs(jobs).check(program),
        };
        assert_eq!(report.verdict, Verdict::Bug, "{report}");
        let warning = |text: &String| text.contains("contains an earlier state");
        assert!(report.warnings.iter().any(warning), "{report}");
    }
}

/// Compares an uninterrupted search with a search that stops at a limit and is resumed: both must
/// count the same executions.
#[test]
fn a_search_that_saves_now_and_then_loses_no_execution_at_its_limit() {
    let file = Temporary::new("now-and-then");
    for algorithm in Algorithm::general().filter(|algorithm| algorithm.proves()) {
        let checker = || Checker::new().algorithm(algorithm).keep_going(true);
        let whole = checker().check(program);
        let runs = whole.executions + whole.halted + whole.blocked;
        for limit in 1..=runs {
            let saving = checker().checkpoint(&file.0).checkpoint_interval(4);
            drop(saving.max_executions(limit).check(program));
            let rest = checker().resume(&file.0).check(program);
            assert_eq!(numbers(&rest), numbers(&whole), "{algorithm}, {limit}");
        }
    }
}

#[test]
fn a_search_that_is_stopped_in_the_middle_of_an_execution_goes_on_from_before_it() {
    let file = Temporary::new("in-the-middle");
    let whole = Checker::new().check(|| tries(3));
    for stop_at in [5, 6, 7, 8, 9, 10] {
        let stop = std::sync::Arc::new(AtomicBool::new(false));
        let runs = Cell::new(0);
        let checker = Checker::new().stop(std::sync::Arc::clone(&stop));
        let report = checker
            .checkpoint(&file.0)
            .checkpoint_interval(4)
            .check(move || {
                runs.set(runs.get() + 1);
                if runs.get() == stop_at {
                    stop.store(true, SeqCst);
                }
                tries(3);
            });
        assert_eq!(report.verdict, Verdict::Bounded, "{report}");
        let rest = Checker::new().resume(&file.0).check(|| tries(3));
        assert_eq!(numbers(&rest), numbers(&whole), "{stop_at}");
    }
}
