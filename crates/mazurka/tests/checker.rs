//! The checker: limits, verdicts, algorithms, distinct failures, nondeterminism, invalid options.

use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::sync::{Arc, RwLock};
use mazurka::{
    Algorithm, CheckError, Checker, FailureKind, Restart, Verdict, choose, hint, thread,
};
use std::cell::Cell;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// n threads each increment by load and store.
fn lost_update(threads: u32) {
    let count = Arc::new(AtomicU32::new(0));
    let threads: Vec<_> = (0..threads)
        .map(|_| {
            let count = Arc::clone(&count);
            thread::spawn(move || count.store(count.load(SeqCst) + 1, SeqCst))
        })
        .collect();
    let expected = threads.len() as u32;
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(count.load(SeqCst), expected, "an update was lost");
}

/// n threads each increment by `fetch_add`: n! traces.
fn no_update_lost(threads: u32) {
    let count = Arc::new(AtomicU32::new(0));
    let threads: Vec<_> = (0..threads)
        .map(|_| {
            let count = Arc::clone(&count);
            thread::spawn(move || count.fetch_add(1, SeqCst))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn every_algorithm_finds_the_bug() {
    for algorithm in Algorithm::general() {
        let report = Checker::new().algorithm(algorithm).check(|| lost_update(2));
        assert_eq!(report.verdict, Verdict::Bug, "{algorithm}");
        assert_eq!(report.errors[0].kind, FailureKind::Panic);
        assert!(
            report.errors[0].message.contains("an update was lost"),
            "{algorithm}"
        );
    }
}

#[test]
fn every_algorithm_that_proves_verifies() {
    for algorithm in Algorithm::general().filter(|algorithm| algorithm.proves()) {
        let report = Checker::new()
            .algorithm(algorithm)
            .check(|| no_update_lost(4));
        assert_eq!(report.verdict, Verdict::Verified, "{algorithm}");
        if algorithm.is_optimal() {
            assert_eq!((report.executions, report.blocked), (24, 0), "{algorithm}");
        }
    }
}

#[test]
fn random_search_proves_nothing_and_repeats_itself() {
    let run = |seed| {
        Checker::new()
            .algorithm(Algorithm::Random)
            .seed(seed)
            .max_executions(100)
            .check(|| no_update_lost(3))
    };
    let report = run(1);
    assert_eq!((report.verdict, report.executions), (Verdict::Bounded, 100));
    assert_eq!(run(1).events, report.events);
    let failing = |seed| {
        let checker = Checker::new().algorithm(Algorithm::Pct).seed(seed);
        checker.check(|| lost_update(3)).errors.remove(0)
    };
    assert_eq!(failing(7).execution, failing(7).execution);
    assert_eq!(failing(7).schedule, failing(7).schedule);
}

#[test]
fn a_limit_on_executions_bounds_unless_nothing_is_left() {
    let run = |limit| {
        Checker::new()
            .max_executions(limit)
            .check(|| no_update_lost(3))
    };
    let report = run(5);
    assert_eq!((report.verdict, report.executions), (Verdict::Bounded, 5));
    assert!(report.bounds[0].contains("5 executions"));
    assert_eq!(run(6).verdict, Verdict::Verified);
    assert_eq!(run(7).verdict, Verdict::Verified);
}

#[test]
fn a_search_that_begins_anew_keeps_its_bugs_and_its_count() {
    // The third execution fails; the fourth one makes the end of a thread an event.
    let program = || {
        let other = thread::spawn(|| ());
        let number = choose(5);
        if number == 3 {
            other.is_finished();
        }
        other.join().unwrap();
        assert_ne!(number, 2);
    };
    let run = |limit| {
        let checker = Checker::new().keep_going(true);
        checker.max_executions(limit).check(program)
    };
    let report = run(4);
    assert_eq!((report.verdict, report.executions), (Verdict::Bug, 1));
    assert_eq!(
        report.bounds,
        [
            "stopped after 4 executions, 3 of them before the search restarted; raise with max_executions"
        ]
    );
    let bug = &report.errors[0];
    assert_eq!(bug.execution, 3);
    let last = bug.interleaving.rows.last().unwrap();
    assert_eq!((last.text.as_str(), last.failed), ("T0.join()", true));
    let again = Checker::new().replay(&bug.schedule, program).unwrap();
    assert_eq!(again.errors[0].message, bug.message);
    let whole = run(100);
    assert_eq!((whole.executions, whole.errors.len()), (6, 1));
    assert!(whole.bounds.is_empty());
}

#[test]
fn a_search_that_is_stopped_when_it_is_done_is_done() {
    let stop = std::sync::Arc::new(AtomicBool::new(false));
    let flag = std::sync::Arc::clone(&stop);
    let checker = Checker::new().stop(stop);
    let report = checker.check(move || flag.store(true, SeqCst));
    assert_eq!((report.verdict, report.executions), (Verdict::Verified, 1));
    let late = Checker::new().time_limit(Duration::ZERO).check(|| ());
    assert_eq!((late.verdict, late.executions), (Verdict::Bounded, 0));
}

#[test]
fn a_time_limit_a_flag_and_an_observer_stop_the_search() {
    let report = Checker::new()
        .time_limit(Duration::from_millis(20))
        .check(|| no_update_lost(9));
    assert_eq!(report.verdict, Verdict::Bounded);
    let report = Checker::new()
        .stop(std::sync::Arc::new(AtomicBool::new(true)))
        .check(|| no_update_lost(9));
    assert_eq!((report.verdict, report.executions), (Verdict::Bounded, 0));

    struct After(Rc<Cell<u64>>);
    impl mazurka::Observer for After {
        fn ended(
            &mut self,
            _outcome: explore::Outcome,
            _strategy: &dyn explore::Strategy,
        ) -> ControlFlow<()> {
            self.0.set(self.0.get() + 1);
            if self.0.get() == 3 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        }
    }
    let seen = Rc::new(Cell::new(0));
    let report = Checker::new()
        .observer(After(Rc::clone(&seen)))
        .check(|| no_update_lost(9));
    assert_eq!(
        (report.verdict, report.executions, seen.get()),
        (Verdict::Bounded, 3, 3)
    );
}

#[test]
fn the_first_bug_ends_the_search_unless_it_keeps_going() {
    let program = || assert!(choose(5).is_multiple_of(2), "odd");
    let report = Checker::new().check(program);
    assert_eq!(report.errors.len(), 1);
    assert!(report.executions < 5);
    let report = Checker::new().keep_going(true).check(program);
    assert_eq!((report.executions, report.errors.len()), (5, 1));
    let report = Checker::new()
        .keep_going(true)
        .check(|| assert!(choose(5) > 5));
    assert_eq!(report.errors.len(), 1);
    let report = Checker::new()
        .keep_going(true)
        .check(|| panic!("number {}", choose(5)));
    assert_eq!((report.executions, report.errors.len()), (5, 5));
}

#[test]
fn deadlocks_that_differ_only_in_the_first_waiter_are_one() {
    let report = Checker::new().keep_going(true).check(|| {
        let lock = Arc::new(mazurka::sync::Mutex::new(()));
        let guard = lock.lock().unwrap();
        for _ in 0..3 {
            let lock = Arc::clone(&lock);
            thread::spawn(move || drop(lock.lock().unwrap()));
        }
        std::mem::forget(guard);
    });
    assert_eq!(report.deadlocks, 6);
    assert_eq!(report.errors.len(), 1, "{:#?}", report.errors);
}

#[test]
fn a_bound_on_preemptions_leaves_executions_out() {
    let bounded = |bound| {
        Checker::new()
            .preemptions(bound)
            .check(|| no_update_lost(3))
    };
    assert_ne!(bounded(0).verdict, Verdict::Bug);
    let report = Checker::new().preemptions(1).check(|| lost_update(2));
    assert_eq!(report.verdict, Verdict::Bug);
    let report = Checker::new()
        .preemptions(0)
        .algorithm(Algorithm::Exhaustive)
        .check(|| lost_update(2));
    assert_eq!(report.verdict, Verdict::Bounded);
    let report = Checker::new().preemptions(2).check(|| no_update_lost(2));
    assert_eq!(report.verdict, Verdict::Verified, "nothing is left out");
}

#[test]
fn a_program_that_is_not_deterministic_is_reported_with_the_step() {
    let counter = std::sync::atomic::AtomicU32::new(0);
    let result = Checker::new().try_check(move || {
        let x = Arc::new(AtomicU32::new(0));
        let other = thread::spawn({
            let x = Arc::clone(&x);
            move || x.store(1, SeqCst)
        });
        match counter.fetch_add(1, SeqCst) % 2 {
            0 => x.store(2, SeqCst),
            _ => drop(x.load(SeqCst)),
        }
        x.load(SeqCst);
        other.join().unwrap();
    });
    match result {
        Err(error @ CheckError::Nondeterministic(_)) => {
            let text = error.to_string();
            assert!(text.contains("not deterministic: at step "), "{text}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    let refused = |checker: Checker| match checker.try_check(|| ()) {
        Err(CheckError::Contradiction(text)) => text,
        other => panic!("{other:?}"),
    };
    assert!(refused(Checker::new().seed(3)).contains("seed"));
    assert!(refused(Checker::new().max_executions(0)).contains("0 executions"));
    assert!(refused(Checker::new().max_events(0)).contains("0 operations"));
}

#[test]
fn a_schedule_that_permits_no_operation_is_refused() {
    let program = || lost_update(2);
    let mut schedule = Checker::new().check(program).errors.remove(0).schedule;
    schedule.conditions.max_events = 0;
    match Checker::new().replay(&schedule, program) {
        Err(CheckError::Contradiction(text)) => assert!(text.contains("0 operations"), "{text}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn one_execution_is_described_in_the_singular() {
    let report = Checker::new().max_executions(1).check(|| no_update_lost(3));
    assert_eq!(
        report.bounds,
        ["stopped after 1 execution; raise with max_executions"]
    );
}

#[test]
fn a_replay_shows_the_same_failure() {
    let found = Checker::new().check(|| lost_update(3)).errors.remove(0);
    let again = Checker::new()
        .replay(&found.schedule, || lost_update(3))
        .unwrap();
    assert_eq!(again.verdict, Verdict::Bug);
    assert_eq!(again.errors[0].message, found.message);
    assert_eq!(again.errors[0].location, found.location);
    assert_eq!(again.errors[0].interleaving, found.interleaving);
    assert_eq!(again.errors[0].schedule.steps, found.schedule.steps);
}

#[test]
fn a_replay_knows_which_objects_are_coarse() {
    // The failing execution does not poll the thread, but others do. This makes the end of the
    // thread an event in all executions.
    let program = || {
        let x = Arc::new(AtomicU32::new(0));
        let other = thread::spawn({
            let x = Arc::clone(&x);
            move || x.fetch_add(1, SeqCst)
        });
        assert_eq!(x.load(SeqCst), 0, "came later");
        other.is_finished();
        other.join().unwrap();
    };
    let found = Checker::new().check(program).errors.remove(0);
    assert_eq!(found.schedule.coarse.len(), 1);
    let again = Checker::new().replay(&found.schedule, program).unwrap();
    assert_eq!(again.errors[0].message, found.message);
    assert_eq!(again.errors[0].schedule, found.schedule);
}

#[test]
fn a_replay_of_another_program_is_refused() {
    let found = Checker::new().check(|| lost_update(3)).errors.remove(0);
    let other = Checker::new().replay(&found.schedule, || ());
    assert!(matches!(other, Err(CheckError::Misfit(_))), "{other:?}");
}

#[test]
fn the_shown_interleaving_has_few_switches() {
    for algorithm in [Algorithm::Random, Algorithm::Parsimonious] {
        let found = Checker::new()
            .algorithm(algorithm)
            .check(|| lost_update(2))
            .errors
            .remove(0);
        // Five turns: main, the first thread up to its load, the second thread, the first thread,
        // and main, which only has to join.
        assert!(
            found.interleaving.switches() <= 5,
            "{:?}",
            found.interleaving
        );
    }
}

#[test]
fn a_choice_and_an_assumption_are_counted() {
    let report = Checker::new().check(|| {
        let (a, b) = (choose(3), choose(2));
        mazurka::assume(a != 2);
        assert!(a + b < 3);
    });
    assert_eq!(report.verdict, Verdict::Verified);
    assert_eq!(report.executions + report.halted, 6);
    assert_eq!(report.halted, 2);
}

#[test]
fn extra_executions_are_within_the_limit_and_none_where_the_search_goes_on_anyway() {
    let spent = |checker: Checker| checker.check(|| lost_update(3)).extra;
    assert_eq!(spent(Checker::new().max_executions(4)), 2);
    assert_eq!(spent(Checker::new().extra(5)), 5);
    assert_eq!(spent(Checker::new().extra(0)), 0);
    assert_eq!(spent(Checker::new().keep_going(true)), 0);
    assert_eq!(
        spent(Checker::new()),
        12,
        "two executions found it, and ten besides"
    );
}

#[test]
fn a_search_that_is_resumed_after_the_failure_shows_the_same_short_execution() {
    let path = std::env::temp_dir().join(format!("mazurka-short-{}", std::process::id()));
    let program = || lost_update(3);
    let first = Checker::new().checkpoint(&path).check(program);
    let again = Checker::new().resume(&path).check(program);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(again.extra, first.extra);
    assert_eq!(again.errors[0].interleaving, first.errors[0].interleaving);
    assert_eq!(again.errors[0].execution, first.errors[0].execution);
}

/// A try operation occurs only after the failure. It makes objects coarser: more of their
/// operations count as dependent.
#[test]
fn objects_that_become_coarser_among_the_extra_executions_change_nothing() {
    let program = || {
        let both = Arc::new((RwLock::new(0), AtomicU32::new(0)));
        let other = thread::spawn({
            let both = Arc::clone(&both);
            move || {
                drop(both.0.read());
                if both.1.swap(1, SeqCst) == 2 {
                    drop(both.0.try_write());
                }
            }
        });
        drop(both.0.read());
        both.1.store(2, SeqCst);
        other.join().unwrap();
        assert_eq!(both.1.load(SeqCst), 1, "the other came first");
    };
    for algorithm in Algorithm::general().filter(|algorithm| algorithm.proves()) {
        let numbers = |extra| {
            let report = Checker::new()
                .algorithm(algorithm)
                .extra(extra)
                .check(program);
            assert_eq!(report.verdict, Verdict::Bug, "{algorithm}");
            (report.executions, report.events)
        };
        assert_eq!(numbers(100), numbers(0), "{algorithm}");
    }
}

#[test]
fn a_report_says_why_the_search_started_again() {
    let report = Checker::new().check(|| {
        let flag = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&flag);
        let thread = thread::spawn(move || other.store(1, SeqCst));
        while flag.load(SeqCst) == 0 {
            hint::spin_loop();
        }
        thread.join().unwrap();
    });
    assert_eq!(report.restarts, [(Restart::Hint, 1)].into());
    let without = Checker::new().check(|| {});
    assert!(without.restarts.is_empty());
}
