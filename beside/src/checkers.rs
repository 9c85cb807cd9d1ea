//! How each library checks a program to its end, or to a limit.

use cpu_time::ProcessTime;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// What a check took.
pub struct Measured {
    pub executions: u64,
    /// CPU time; none if the library refuses the program.
    pub seconds: Option<f64>,
    pub is_stopped: bool,
}

/// A check is repeated until it has taken so long, so that short ones are measured well.
const LONG_ENOUGH: f64 = 0.5;

/// Mazurka verifies the program.
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

/// loom, with its default bounds lifted.
pub fn loom(program: fn(), limit: Duration) -> Measured {
    measured(limit, move |run| {
        let mut builder = loom::model::Builder::new();
        builder.max_branches = 100_000;
        builder.check(move || run(program));
    })
}

/// Shuttle, with its scheduler that tries everything.
pub fn shuttle(program: fn(), limit: Duration) -> Measured {
    measured(limit, move |run| {
        let mut config = shuttle::Config::new();
        config.failure_persistence = shuttle::FailurePersistence::None;
        let scheduler = shuttle::scheduler::DfsScheduler::new(None, false);
        shuttle::Runner::new(scheduler, config).run(move || run(program));
    })
}

/// How many executions there are between two looks at the clock.
const LOOK: u64 = 64;

/// Counts the executions of a check, and stops it by a panic in the program when it has had its CPU time. Another panic is a
/// refusal: the programs have no bugs.
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
