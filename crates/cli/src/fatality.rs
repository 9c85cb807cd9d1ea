//! Executions that end the process that checks: what is known of them is how it ended, and the steps until then.

use native::Order;
use report::{
    Conditions, Coverage, Failure, FailureKind, Interleaving, Limit, Report, ScheduleFile, Trailed,
    Verdict,
};

/// The report of a search that died in this execution.
pub fn report(order: &Order, trailed: Trailed, ended: &str) -> Report {
    let message = format!(
        "the process that ran the program ended with {ended}: the program has ended it, or has written over memory of \
         the checker"
    );
    let executions = trailed.execution;
    Report {
        verdict: Verdict::Bug,
        program: order.name.clone(),
        executions,
        halted: 0,
        blocked: 0,
        cut: 0,
        deadlocks: 0,
        errors: vec![failure(order, trailed, message)],
        warnings: Vec::new(),
        goals: Vec::new(),
        bounds: vec!["the process ended; executions are counted as they began".to_owned()],
        limits: vec![Limit::Interrupted],
        probes: 0,
        extra: 0,
        events: 0,
        max_depth: 0,
        coverage: Coverage::default(),
        algorithm: order.algorithm.parse().unwrap_or_default(),
        elapsed_s: 0.0,
        compile_s: None,
        peak_rss_bytes: 0,
    }
}

fn failure(order: &Order, trailed: Trailed, message: String) -> Failure {
    Failure {
        kind: FailureKind::Crash,
        message: message.clone(),
        location: None,
        execution: trailed.execution,
        schedule: ScheduleFile {
            program: order.name.clone(),
            kind: FailureKind::Crash,
            message,
            conditions: conditions(order),
            coarse: trailed.coarse,
            recipe: None,
            by_accesses: true,
            steps: trailed.steps,
        },
        saved_as: None,
        repeat_with: None,
        interleaving: Interleaving {
            threads: Vec::new(),
            rows: Vec::new(),
            races: Vec::new(),
            conflict: None,
            ends: Vec::new(),
        },
    }
}

/// What the program was run under: what the order leaves open is as for every program in C.
fn conditions(order: &Order) -> Conditions {
    let usual = Conditions::default();
    Conditions {
        max_events: order.max_events.unwrap_or(usual.max_events),
        timeouts: order.timeouts.unwrap_or(usual.timeouts),
        panics_fail: usual.panics_fail,
        waiting_after_main: true,
        interleaves_plain: order.interleaves_plain,
        unroll: order.unroll,
    }
}
