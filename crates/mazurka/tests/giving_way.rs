//! Threads that yield (`yield_now`, `spin_loop`) although their iterations have effects. Other
//! threads run first, and the switch is not a preemption.

use mazurka::sync::Arc;
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::{Algorithm, Checker, Limit, Verdict, hint, thread};

const ALGORITHMS: [Algorithm; 3] = [
    Algorithm::Parsimonious,
    Algorithm::Optimal,
    Algorithm::Source,
];

/// The main thread counts its iterations until two other threads have seen the count change twice.
fn rounds() {
    let shared = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
    let others = [(); 2].map(|()| {
        let shared = Arc::clone(&shared);
        thread::spawn(move || {
            for _ in 0..2 {
                let seen = shared[0].load(SeqCst);
                while shared[0].load(SeqCst) == seen {
                    hint::spin_loop();
                }
            }
            shared[1].fetch_add(1, SeqCst);
        })
    });
    while shared[1].load(SeqCst) < 2 {
        shared[0].fetch_add(1, SeqCst);
        thread::yield_now();
    }
    others.into_iter().for_each(|other| other.join().unwrap());
}

/// If the other threads did not run after a yield, each execution would reach the limit on
/// operations.
#[test]
fn rounds_with_effects_let_others_go_on() {
    for algorithm in ALGORITHMS {
        let report = Checker::new()
            .algorithm(algorithm)
            .max_executions(100)
            .check(rounds);
        assert_eq!(report.limits, [Limit::Executions], "{report}");
        assert_eq!(report.executions, 100);
        assert!(report.max_depth < 1_000, "{report}");
        let report = Checker::new()
            .algorithm(algorithm)
            .preemptions(0)
            .max_executions(100)
            .check(rounds);
        assert_eq!((report.errors.len(), report.halted), (0, 0), "{report}");
        assert!(
            report.executions > 1 && report.max_depth < 1_000,
            "{report}"
        );
    }
}

/// The other thread reads the value 1 only if it runs between the two stores, where the writer may
/// yield.
fn passing(yields: bool) -> impl Fn() + Send + Sync {
    move || {
        let number = Arc::new(AtomicU32::new(0));
        let other = thread::spawn({
            let number = Arc::clone(&number);
            move || number.load(SeqCst)
        });
        number.store(1, SeqCst);
        if yields {
            thread::yield_now();
        }
        number.store(0, SeqCst);
        assert_eq!(other.join().unwrap(), 0);
    }
}

#[test]
fn a_switch_after_a_yield_is_no_preemption() {
    for (yields, verdict) in [(false, Verdict::Bounded), (true, Verdict::Bug)] {
        let checker = Checker::new().preemptions(0);
        let report = checker.check(passing(yields));
        assert_eq!(report.verdict, verdict, "{report}");
    }
    let report = Checker::new().preemptions(1).check(passing(false));
    assert_eq!(report.verdict, Verdict::Bug, "{report}");
}
