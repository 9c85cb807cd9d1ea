//! How each library checks a program to its end, or to a limit.

use cpu_time::ProcessTime;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
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
        // Limits are looked at as often.
        builder.checkpoint_interval = 100;
        builder.max_duration = Some(limit);
        builder.check(move || run(program));
    })
}

/// Shuttle, with its scheduler that tries everything.
pub fn shuttle(program: fn(), limit: Duration) -> Measured {
    measured(limit, move |run| {
        let mut config = shuttle::Config::new();
        config.max_time = Some(limit);
        config.failure_persistence = shuttle::FailurePersistence::None;
        let scheduler = shuttle::scheduler::DfsScheduler::new(None, false);
        shuttle::Runner::new(scheduler, config).run(move || run(program));
    })
}

/// Counts the executions of a check. A panic is a refusal: the programs have no bugs.
fn measured(limit: Duration, check: impl FnOnce(Arc<dyn Fn(fn()) + Send + Sync>)) -> Measured {
    let executions = Arc::new(AtomicU64::new(0));
    let run = {
        let executions = Arc::clone(&executions);
        Arc::new(move |program: fn()| {
            executions.fetch_add(1, Relaxed);
            program();
        })
    };
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let start = ProcessTime::now();
    let result = catch_unwind(AssertUnwindSafe(|| check(run)));
    let elapsed = start.elapsed();
    std::panic::set_hook(hook);
    Measured {
        executions: executions.load(Relaxed),
        seconds: result.is_ok().then(|| elapsed.as_secs_f64()),
        // Others use the processor, too: a check that was stopped by the clock may have had less of it.
        is_stopped: elapsed.as_secs_f64() >= 0.3 * limit.as_secs_f64(),
    }
}
