//! Checks a program with one of the libraries until the check is complete. Checks with loom and
//! Shuttle have a time limit.

use cpu_time::ProcessTime;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// The cost of a check.
pub struct Measured {
    /// Number of executions in one check.
    pub executions: u64,
    /// The CPU time in seconds (for Mazurka, the mean of the checks). `None` if the library refuses
    /// the program.
    pub seconds: Option<f64>,
    /// Whether the time limit has stopped the check.
    pub is_stopped: bool,
}

/// Short checks with Mazurka are repeated until they have taken this number of CPU seconds in
/// total, so that the measurement is precise.
const LONG_ENOUGH: f64 = 0.5;

/// Verifies the program with Mazurka.
pub fn mazurka(program: fn()) -> Measured {
    let start = ProcessTime::now();
    let mut checks = 0;
    loop {
        let report = mazurka::Checker::new().check(program);
        assert_eq!(report.verdict, mazurka::Verdict::Verified);
        checks += 1;
        let seconds = start.elapsed().as_secs_f64();
        if seconds >= LONG_ENOUGH {
            return Measured {
                executions: report.executions,
                seconds: Some(seconds / f64::from(checks)),
                is_stopped: false,
            };
        }
    }
}

/// Checks the program with loom, with a raised limit on branches.
pub fn loom(program: fn(), limit: Duration) -> Measured {
    measured(limit, move |run| {
        let mut builder = loom::model::Builder::new();
        builder.max_branches = 100_000;
        builder.check(move || run(program));
    })
}

/// Checks the program with Shuttle's exhaustive scheduler.
pub fn shuttle(program: fn(), limit: Duration) -> Measured {
    measured(limit, move |run| {
        let mut config = shuttle::Config::new();
        config.failure_persistence = shuttle::FailurePersistence::None;
        let scheduler = shuttle::scheduler::DfsScheduler::new(None, false);
        shuttle::Runner::new(scheduler, config).run(move || run(program));
    })
}

/// Number of executions between two checks of the time limit.
const LOOK: u64 = 64;

/// Measures a check. When the check reaches the limit of CPU time, a panic in the program stops it.
/// The programs have no bugs, so any other panic means that the library refuses the program.
fn measured(limit: Duration, check: impl FnOnce(Arc<dyn Fn(fn()) + Send + Sync>)) -> Measured {
    let executions = Arc::new(AtomicU64::new(0));
    let is_stopped = Arc::new(AtomicBool::new(false));
    let start = ProcessTime::now();
    let run = {
        let (executions, is_stopped) = (Arc::clone(&executions), Arc::clone(&is_stopped));
        Arc::new(move |program: fn()| {
            let number = executions.fetch_add(1, Relaxed);
            if number % LOOK == 0 && start.elapsed() >= limit {
                is_stopped.store(true, Relaxed);
                panic!("its time is over");
            }
            program();
        })
    };
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let result = catch_unwind(AssertUnwindSafe(|| check(run)));
    let seconds = start.elapsed().as_secs_f64();
    std::panic::set_hook(hook);
    let is_stopped = is_stopped.load(Relaxed);
    Measured {
        executions: executions.load(Relaxed),
        seconds: (result.is_ok() || is_stopped).then_some(seconds),
        is_stopped,
    }
}
