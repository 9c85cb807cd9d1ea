//! Models that switch exploration off for some of their parts.

mod outcomes;

use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::{
    Algorithm, Checker, Limit, Report, Verdict, choose, explore, skip_branch, stop_exploring,
    thread,
};
use outcomes::explored;
use std::collections::BTreeSet;

/// Two threads each add 1 by a load and a store. Returns the final value.
fn lost_update(count: &AtomicU32) -> u32 {
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| count.store(count.load(SeqCst) + 1, SeqCst));
        }
    });
    count.swap(0, SeqCst)
}

/// Returns the results of the program, and the report.
fn seen(program: impl Fn() -> [u32; 2] + 'static) -> (BTreeSet<[u32; 2]>, Report) {
    explored(Checker::new(), program)
}

#[test]
fn what_is_not_explored_happens_in_one_way_and_the_verdict_says_so() {
    let (seen, report) = seen(|| {
        let count = AtomicU32::new(0);
        stop_exploring();
        let first = lost_update(&count);
        explore();
        [first, lost_update(&count)]
    });
    assert_eq!(seen, BTreeSet::from([[2, 1], [2, 2]]));
    assert_eq!(report.verdict, Verdict::Bounded);
    assert_eq!(report.limits, [Limit::Exploration]);
    assert!(
        report.to_string().contains("left out interleavings"),
        "{report}"
    );
}

#[test]
fn a_branch_that_is_skipped_is_not_explored_again() {
    let (seen, report) = seen(|| {
        let count = AtomicU32::new(0);
        let first = lost_update(&count);
        skip_branch();
        explore();
        [first, lost_update(&count)]
    });
    assert_eq!(seen, BTreeSet::from([[1, 2], [2, 2]]));
    assert_eq!(report.limits, [Limit::Exploration]);
}

#[test]
fn exploring_may_begin_only_where_the_program_says_so() {
    let (seen, report) = explored(Checker::new().explores(false), || {
        let count = AtomicU32::new(0);
        let first = lost_update(&count);
        explore();
        [first, lost_update(&count)]
    });
    assert_eq!(seen, BTreeSet::from([[2, 1], [2, 2]]));
    assert_eq!(report.verdict, Verdict::Bounded);
}

#[test]
fn choices_have_one_alternative_where_nothing_is_explored() {
    let (seen, _) = seen(|| {
        stop_exploring();
        let first = choose(3);
        explore();
        [first, choose(2)]
    });
    assert_eq!(seen, BTreeSet::from([[0, 0], [0, 1]]));
}

#[test]
fn where_there_is_one_way_nothing_is_left_out() {
    let report = Checker::new().check(|| {
        stop_exploring();
        let count = AtomicU32::new(0);
        count.fetch_add(1, SeqCst);
        explore();
        assert_eq!(lost_update(&count), 3 - choose(2));
    });
    assert_eq!(report.verdict, Verdict::Bug);
    let report = Checker::new().check(|| {
        stop_exploring();
        AtomicU32::new(0).fetch_add(1, SeqCst);
    });
    assert_eq!(report.verdict, Verdict::Verified);
}

/// Returns the exhaustive algorithms for programs of closures.
fn searching() -> impl Iterator<Item = Algorithm> {
    Algorithm::general().filter(|algorithm| algorithm.proves())
}

#[test]
fn every_algorithm_leaves_out_the_same() {
    for algorithm in searching() {
        let checker = || Checker::new().algorithm(algorithm);
        let (seen, report) = explored(checker(), || {
            let count = AtomicU32::new(0);
            stop_exploring();
            let first = lost_update(&count);
            explore();
            [first, lost_update(&count)]
        });
        assert_eq!(seen, BTreeSet::from([[2, 1], [2, 2]]), "{algorithm}");
        assert_eq!(report.limits, [Limit::Exploration], "{algorithm}");
        assert_eq!(report.verdict, Verdict::Bounded, "{algorithm}");
        let (seen, _) = explored(checker(), || {
            let count = AtomicU32::new(0);
            let first = lost_update(&count);
            skip_branch();
            [first, lost_update(&count)]
        });
        assert_eq!(seen, BTreeSet::from([[1, 2], [2, 2]]), "{algorithm}");
        let (seen, _) = explored(checker().explores(false), || {
            let count = AtomicU32::new(0);
            let first = lost_update(&count);
            explore();
            [first, lost_update(&count)]
        });
        assert_eq!(seen, BTreeSet::from([[2, 1], [2, 2]]), "{algorithm}");
    }
}

#[test]
fn every_algorithm_takes_the_first_alternative_where_nothing_is_explored() {
    for algorithm in searching() {
        let (seen, report) = explored(Checker::new().algorithm(algorithm), || {
            stop_exploring();
            let first = choose(3);
            explore();
            [first, choose(2)]
        });
        assert_eq!(seen, BTreeSet::from([[0, 0], [0, 1]]), "{algorithm}");
        assert_eq!(report.executions, 2, "{algorithm}");
        assert_eq!(report.limits, [Limit::Exploration], "{algorithm}");
    }
}

/// A part that is not explored contains choices. The threads race before and after this part.
#[test]
fn choices_that_are_left_out_keep_what_was_planned_for_the_races_around_them() {
    let outcomes = |algorithm| {
        let checker = Checker::new().algorithm(algorithm);
        let (seen, _) = explored(checker, || {
            let count = AtomicU32::new(0);
            let first = lost_update(&count);
            stop_exploring();
            let choice = choose(3);
            explore();
            let second = lost_update(&count);
            [first + 10 * choice, second]
        });
        seen
    };
    for algorithm in searching() {
        let all = BTreeSet::from([[1, 1], [1, 2], [2, 1], [2, 2]]);
        assert_eq!(outcomes(algorithm), all, "{algorithm}");
    }
}

#[test]
fn random_executions_leave_nothing_out_and_say_so() {
    for algorithm in [Algorithm::Random, Algorithm::Pct] {
        let checker = || Checker::new().algorithm(algorithm).max_executions(10);
        let refused = checker().try_check(|| {
            stop_exploring();
            lost_update(&AtomicU32::new(0));
        });
        let message = refused.unwrap_err().to_string();
        assert!(message.contains("choose another algorithm"), "{message}");
        let report = checker().check(|| {
            stop_exploring();
            AtomicU32::new(0).fetch_add(1, SeqCst);
        });
        assert!(!report.limits.contains(&Limit::Exploration), "{report}");
    }
}

#[test]
fn places_are_left_out_of_a_trace_if_they_are_not_wanted() {
    for are_shown in [true, false] {
        let report = Checker::new().locations(are_shown).check(|| {
            assert_eq!(lost_update(&AtomicU32::new(0)), 2);
        });
        let rows = &report.errors[0].interleaving.rows;
        assert_eq!(rows.iter().any(|row| row.location.is_some()), are_shown);
    }
}
