//! The coverage in the report of a verified model: lines that raced, and possible mistakes.

use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::sync::{Arc, Mutex, RwLock};
use mazurka::{Algorithm, Checker, Report, Verdict, assume, choose, thread};

fn verified(program: impl Fn() + 'static) -> Report {
    let report = Checker::new().check(program);
    assert_eq!(report.verdict, Verdict::Verified, "{report}");
    report
}

/// Returns the lines that raced, relative to the line `origin`, with their numbers of races.
fn lines(report: &Report, origin: u32) -> Vec<(u32, u64)> {
    let line = |location: &str| location.split(':').nth(1).unwrap().parse::<u32>().unwrap();
    let lines = report.coverage.lines.iter();
    let mut lines: Vec<_> = lines
        .map(|raced| (line(&raced.location) - origin, raced.races))
        .collect();
    lines.sort_unstable();
    lines
}

#[test]
fn lines_whose_operations_race_are_reported_with_their_numbers() {
    let origin = line!();
    let program = || {
        let x = AtomicU32::new(0);
        thread::scope(|scope| {
            scope.spawn(|| x.store(1, SeqCst));
            scope.spawn(|| x.load(SeqCst));
        });
        x.store(2, SeqCst);
    };
    for algorithm in [
        Algorithm::Optimal,
        Algorithm::Parsimonious,
        Algorithm::Source,
    ] {
        let report = Checker::new().algorithm(algorithm).check(program);
        // Each of the two executions contains the race for the first time.
        assert_eq!(
            lines(&report, origin),
            [(4, 2), (5, 2)],
            "{algorithm}: {report}"
        );
        let coverage = &report.coverage;
        assert_eq!(
            (coverage.looked_at, coverage.races, coverage.most_races),
            (2, 2, 1)
        );
        assert!(report.warnings.is_empty(), "{report}");
        assert!(
            report
                .to_string()
                .contains("races at crates/mazurka/tests/coverage.rs:"),
            "{report}"
        );
    }
}

/// If the operations of two executions are the same up to the race, the race counts once.
#[test]
fn a_race_is_reported_once_for_all_executions_that_begin_with_it() {
    let origin = line!();
    let program = || {
        let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
        thread::scope(|scope| {
            scope.spawn(|| (x.store(1, SeqCst), y.store(1, SeqCst)));
            scope.spawn(|| x.load(SeqCst));
            scope.spawn(|| y.load(SeqCst));
        });
    };
    let report = verified(program);
    assert_eq!(report.executions, 4);
    let raced: u64 = lines(&report, origin).iter().map(|(_, races)| races).sum();
    assert_eq!(raced, 2 * report.coverage.races);
    assert!(report.coverage.races < 8, "{report}");
    assert_eq!(report.coverage.most_races, 2);
}

#[test]
fn a_model_without_a_race_checks_nothing() {
    let report = verified(|| {
        let x = Arc::new(AtomicU32::new(0));
        let other = thread::spawn({
            let x = Arc::clone(&x);
            move || x.fetch_add(1, SeqCst)
        });
        other.join().unwrap();
        assert_eq!(x.load(SeqCst) + choose(2) / 2, 1);
    });
    let [warning] = &report.warnings[..] else {
        panic!("{report}");
    };
    assert!(warning.starts_with("no two operations race"), "{warning}");
    assert!(
        report
            .to_string()
            .contains("warning: no two operations race"),
        "{report}"
    );
}

#[test]
fn a_model_whose_executions_are_all_halted_checks_no_end() {
    let report = verified(|| {
        assume(choose(2) > 1);
        panic!("the assumption holds");
    });
    let [warning] = &report.warnings[..] else {
        panic!("{report}");
    };
    assert!(warning.starts_with("no execution is complete"), "{warning}");
}

#[test]
fn an_object_that_one_thread_uses_is_reported_with_its_line() {
    let origin = line!();
    let report = verified(|| {
        let shared = AtomicU32::new(0);
        let unshared = Mutex::new(0);
        let _unused = RwLock::new(0);
        let many: Vec<_> = (0..3).map(AtomicU32::new).collect();
        thread::scope(|scope| {
            scope.spawn(|| *unshared.lock().unwrap() += shared.fetch_add(1, SeqCst));
            scope.spawn(|| many[2].fetch_add(shared.fetch_add(1, SeqCst), SeqCst));
        });
        // Two threads have used one of the objects that are created there.
        many[1].store(many[2].load(SeqCst), SeqCst);
    });
    let [warning] = &report.warnings[..] else {
        panic!("{report}");
    };
    let place = format!("crates/mazurka/tests/coverage.rs:{}:", origin + 3);
    assert!(
        warning.starts_with(&format!("a mutex created at {place}")),
        "{warning}"
    );
    assert!(warning.ends_with("is used by one thread only"), "{warning}");
}

#[test]
fn a_large_search_is_looked_at_in_parts() {
    let report = verified(|| {
        let x = AtomicU32::new(0);
        thread::scope(|scope| {
            for _ in 0..7 {
                scope.spawn(|| x.fetch_add(1, SeqCst));
            }
        });
    });
    assert_eq!(report.executions, 5_040);
    // The first 64, and about one in a thousand of the others.
    let looked_at = report.coverage.looked_at;
    assert!((65..90).contains(&looked_at), "{looked_at}");
    assert_eq!(report.coverage.most_races, 6);
    let text = report.to_string();
    assert!(
        text.contains(&format!("in the {looked_at} executions that were examined")),
        "{text}"
    );
}

#[test]
fn what_a_bug_stopped_has_no_warnings_of_coverage() {
    let report = Checker::new().check(|| panic!("at once"));
    assert_eq!(report.verdict, Verdict::Bug);
    assert!(report.warnings.is_empty(), "{report}");
}

#[test]
fn collecting_coverage_does_not_change_the_result() {
    // A program with hints, plain memory and a restart of the search.
    let program = || {
        let shared = Arc::new((RwLock::new(0), AtomicU32::new(0)));
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                drop(shared.0.try_read());
                shared.1.store(1, SeqCst);
            }
        });
        while shared.1.load(SeqCst) == 0 {
            mazurka::hint::spin_loop();
        }
        *shared.0.write().unwrap() += 1;
        other.join().unwrap();
    };
    let all = Checker::new().algorithm(Algorithm::Optimal).check(program);
    let parsimonious = Checker::new().check(program);
    let numbers = |report: &Report| (report.verdict, report.executions, report.halted);
    assert_eq!(numbers(&all), numbers(&parsimonious));
    assert!(all.coverage.races > 0);
}
