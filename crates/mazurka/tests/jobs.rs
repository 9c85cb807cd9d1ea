//! Several jobs find the same results as one job: all numbers, failures, goals, warnings and
//! coverage.

use mazurka::cell::UnsafeCell;
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::sync::{Arc, Mutex, RwLock};
use mazurka::{Algorithm, Checker, Goal, Report, Verdict, thread};
use serde_json::Value;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Threads that add to a counter in two steps, with more than a thousand executions.
fn counts() -> u32 {
    let count = Arc::new(AtomicU32::new(0));
    let threads = [0, 1, 2].map(|number| {
        let count = Arc::clone(&count);
        thread::spawn(move || {
            count.fetch_add(1, SeqCst);
            let seen = count.load(SeqCst);
            count.store(seen + number, SeqCst);
            count.fetch_add(1, SeqCst);
        })
    });
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
    count.load(SeqCst)
}

fn passes() {
    counts();
}

/// Two different bugs, one of them in few executions.
fn fails() {
    let count = counts();
    assert_ne!(count, 5, "five");
    assert_ne!(count, 7, "seven");
}

/// The first `try_lock` occurs late in the search, when the last thread runs first.
fn tries_late() {
    let first = Arc::new(AtomicU32::new(0));
    let (lock, mutex) = (Arc::new(RwLock::new(0)), Arc::new(Mutex::new(0)));
    let threads = [1, 2, 3].map(|number| {
        let first = Arc::clone(&first);
        let (lock, mutex) = (Arc::clone(&lock), Arc::clone(&mutex));
        thread::spawn(move || {
            let is_first = first.fetch_add(1, SeqCst) == 0;
            *mutex.lock().unwrap() += number;
            *lock.write().unwrap() += number;
            *lock.write().unwrap() += number;
            if is_first && number == 3 {
                drop(lock.try_read());
            }
        })
    });
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
}

/// The first compare-exchange of an object occurs late in the search, so the search starts again.
fn compares_late() {
    let first = Arc::new(AtomicU32::new(0));
    let (x, y) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let threads = [1, 2, 3].map(|number| {
        let first = Arc::clone(&first);
        let (x, y) = (Arc::clone(&x), Arc::clone(&y));
        thread::spawn(move || {
            let is_first = first.fetch_add(1, SeqCst) == 0;
            y.store(number, SeqCst);
            let seen = y.load(SeqCst);
            x.fetch_add(seen, SeqCst);
            x.fetch_add(seen, SeqCst);
            if is_first && number == 3 {
                _ = y.compare_exchange(1, 2, SeqCst, SeqCst);
            }
        })
    });
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
}

fn reaches() {
    let six = Goal::new("six");
    if counts() == 6 {
        six.reach();
    }
    let alone = AtomicU32::new(0);
    alone.store(1, SeqCst);
}

/// Returns the report without times, memory and jobs.
fn comparable(mut report: Report) -> Value {
    (report.elapsed_s, report.peak_rss_bytes, report.jobs) = (0.0, 0, 0);
    serde_json::to_value(report).unwrap()
}

const PROGRAMS: [fn(); 5] = [passes, fails, tries_late, compares_late, reaches];

#[test]
fn two_and_three_jobs_report_what_one_job_reports() {
    for (number, program) in PROGRAMS.into_iter().enumerate() {
        let checker = || Checker::new().keep_going(true);
        let one = checker().check(program);
        assert!(one.executions > 1200, "program {number}: {one}");
        // The time when a restart is detected varies, and so does the knowledge at that time.
        let is_late = one.given_up > 0;
        assert_eq!(is_late, [2, 3].contains(&number));
        assert!(
            !is_late || one.given_up > 4 * explore::LEARNING,
            "it shows in the first slice"
        );
        let of = |report: Report| {
            let mut comparable = comparable(report);
            if is_late {
                comparable["given_up"] = Value::Null;
                comparable["coverage"] = Value::Null;
            }
            comparable
        };
        let one = of(one);
        for jobs in [1, 2, 3] {
            let several = of(checker().jobs(jobs).check(program));
            assert_eq!(several, one, "program {number}, {jobs} jobs");
        }
    }
}

#[test]
fn an_exhaustive_search_is_divided_likewise() {
    let checker = || Checker::new().algorithm(Algorithm::Exhaustive);
    let program = || {
        let x = Arc::new(AtomicU32::new(0));
        let threads = [0, 1].map(|_| {
            let x = Arc::clone(&x);
            thread::spawn(move || (0..7).for_each(|_| _ = x.fetch_add(1, SeqCst)))
        });
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
    };
    let one = checker().check(program);
    assert!(one.executions > 1200, "{one}");
    assert_eq!(
        comparable(checker().jobs(3).check(program)),
        comparable(one)
    );
}

#[test]
fn random_executions_depend_on_their_number_only() {
    for algorithm in [Algorithm::Random, Algorithm::Pct] {
        for limit in [900, 3000, 5001] {
            let checker = || {
                let checker = Checker::new().algorithm(algorithm).seed(7);
                checker.keep_going(true).max_executions(limit)
            };
            let one = comparable(checker().check(fails));
            assert_eq!(one["errors"].as_array().unwrap().len(), 2);
            for jobs in [2, 3] {
                let several = comparable(checker().jobs(jobs).check(fails));
                assert_eq!(several, one, "{algorithm}, {limit} executions");
            }
        }
    }
}

#[test]
fn the_schedule_of_the_bug_that_several_jobs_find_shows_it_again() {
    for _ in 0..5 {
        let report = Checker::new().jobs(3).check(fails);
        assert_eq!(report.errors.len(), 1, "{report}");
        let found = &report.errors[0];
        let again = Checker::new().replay(&found.schedule, fails).unwrap();
        assert_eq!(again.errors[0].message, found.message);
    }
}

#[test]
fn a_limit_of_executions_is_kept_to_the_last_one() {
    for limit in [1, 1000, 1100, 1500] {
        let report = Checker::new().max_executions(limit).jobs(3).check(passes);
        assert_eq!(report.executions, limit, "{report}");
        assert_eq!(report.verdict, Verdict::Bounded);
    }
    let all = Checker::new().check(passes).executions;
    let report = Checker::new().max_executions(all).jobs(2).check(passes);
    assert_eq!(
        (report.executions, report.verdict),
        (all, Verdict::Verified)
    );
}

/// A search that takes too long.
fn endless() {
    let x = Arc::new(AtomicU32::new(0));
    let threads = [0; 6].map(|_| {
        let x = Arc::clone(&x);
        thread::spawn(move || (0..9).for_each(|_| _ = x.fetch_add(1, SeqCst)))
    });
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
}

#[test]
fn a_limit_of_time_a_flag_and_an_observer_stop_all_jobs() {
    let limited = Checker::new().time_limit(Duration::from_millis(300));
    let report = limited.jobs(2).check(endless);
    assert!(report.bounds[0].contains("stopped after 300ms"), "{report}");
    let flag = std::sync::Arc::new(AtomicBool::new(false));
    let setter = std::thread::spawn({
        let flag = std::sync::Arc::clone(&flag);
        move || {
            std::thread::sleep(Duration::from_millis(200));
            flag.store(true, SeqCst);
        }
    });
    let report = Checker::new().stop(flag).jobs(2).check(endless);
    setter.join().unwrap();
    assert_eq!(report.bounds, ["interrupted"], "{report}");
    struct Enough;
    impl mazurka::Observer for Enough {
        fn progressed(&mut self, executions: u64, done: Option<f64>) -> std::ops::ControlFlow<()> {
            assert!(
                done.is_some_and(|part| 0.0 < part && part <= 1.0),
                "{done:?}"
            );
            match executions > 5_000 {
                true => std::ops::ControlFlow::Break(()),
                false => std::ops::ControlFlow::Continue(()),
            }
        }
    }
    let report = Checker::new().observer(Enough).jobs(2).check(endless);
    assert_eq!(report.bounds, ["stopped by an observer"], "{report}");
}

#[test]
fn a_saved_search_goes_on_with_another_number_of_jobs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let one = comparable(Checker::new().keep_going(true).check(fails));
    for numbers in [[2, 1, 3], [1, 3, 1], [3, 2, 2]] {
        let mut report = None;
        for (turn, jobs) in numbers.into_iter().enumerate() {
            let mut checker = Checker::new().keep_going(true).checkpoint(&path);
            if turn > 0 {
                checker = checker.resume(&path);
            }
            if turn < 2 {
                checker = checker.max_executions(1100 * (turn as u64 + 1));
            }
            report = Some(checker.jobs(jobs).check(fails));
        }
        let report = report.unwrap();
        assert!(
            report
                .warnings
                .iter()
                .any(|warning| warning.contains("resumed from"))
        );
        let (mut one, mut last) = (one.clone(), comparable(report));
        // The coverage is not saved.
        for report in [&mut one, &mut last] {
            report["coverage"] = Value::Null;
            report["warnings"] = Value::Null;
        }
        assert_eq!(last, one, "{numbers:?}");
    }
    // The search is complete, and nothing is left.
    let done = Checker::new()
        .keep_going(true)
        .resume(&path)
        .jobs(2)
        .check(fails);
    assert_eq!(done.executions, one["executions"].as_u64().unwrap());
}

#[test]
fn a_search_that_has_found_its_bug_is_not_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    for jobs in [1, 2] {
        let path = folder.path().join(jobs.to_string());
        let checker = || Checker::new().checkpoint(&path).extra(0);
        let found = checker().jobs(jobs).check(fails);
        for jobs in [1, 3] {
            let again = checker().resume(&path).jobs(jobs).check(fails);
            assert_eq!(again.executions, found.executions, "{again}");
            assert_eq!(again.errors[0].message, found.errors[0].message);
        }
    }
}

/// Threads write to a cell without synchronization, and their behaviour depends on its value.
fn races() {
    let cell = Arc::new(Racy(UnsafeCell::new(0)));
    let count = Arc::new(AtomicU32::new(0));
    let threads = [1, 2, 3].map(|number| {
        let (cell, count) = (Arc::clone(&cell), Arc::clone(&count));
        thread::spawn(move || {
            count.fetch_add(number, SeqCst);
            // SAFETY: none; the test needs the race. One thread of the system runs the model.
            cell.0.with_mut(|value| unsafe { *value += number });
            // SAFETY: as above.
            let times = cell.0.with(|value| unsafe { *value });
            for _ in 0..times.min(3) {
                count.fetch_add(1, SeqCst);
            }
        })
    });
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
}

struct Racy(UnsafeCell<u32>);
// SAFETY: as above.
unsafe impl Send for Racy {}
// SAFETY: as above.
unsafe impl Sync for Racy {}

#[test]
fn a_race_that_decides_what_the_program_does_is_reported_by_all_jobs() {
    let one = Checker::new().keep_going(true).check(races);
    assert_eq!(one.errors[0].kind.name(), "data race");
    for jobs in [2, 3] {
        let report = Checker::new().keep_going(true).jobs(jobs).check(races);
        assert_eq!(report.verdict, Verdict::Bug);
        let kinds = |report: &Report| {
            report
                .errors
                .iter()
                .map(|error| error.kind)
                .collect::<Vec<_>>()
        };
        assert_eq!(kinds(&report)[0], kinds(&one)[0], "{report}");
    }
}

#[test]
fn what_cannot_be_divided_is_done_by_one_job_and_says_so() {
    let by_optimal = Checker::new().algorithm(Algorithm::Optimal);
    let bounded = Checker::new().preemptions(1);
    for checker in [by_optimal, bounded] {
        let report = checker.jobs(2).check(|| _ = mazurka::choose(2));
        let is_warning = |warning: &String| warning.contains("uses only one job");
        assert!(report.warnings.iter().any(is_warning), "{report}");
        assert_eq!((report.executions, report.jobs), (2, 1));
    }
    let none = Checker::new().jobs(0).try_check(|| ());
    assert!(none.unwrap_err().to_string().contains("0 jobs"));
}

#[mazurka::test(jobs = 2)]
fn a_test_is_searched_by_two_jobs() {
    passes();
}
