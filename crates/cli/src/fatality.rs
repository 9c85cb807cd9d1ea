//! Executions that end the process that checks: what is known of them is how it ended, and the steps until then.

use native::{Answer, Order, Worker};
use report::{
    Conditions, Coverage, Failure, FailureKind, Interleaving, Limit, Report, Row, SavedStep,
    ScheduleFile, Trailed, Verdict,
};

/// The report of a search that died in this execution. Another process, which `start` starts, shows what comes before the last step.
pub fn report(
    order: &Order,
    trailed: Trailed,
    ended: &str,
    start: impl FnOnce(&Order) -> Option<Worker>,
) -> Report {
    let mut report = report_without(order, trailed, ended);
    let failure = &mut report.errors[0];
    let order = Order {
        replay: Some(failure.schedule.clone()),
        is_fatal: true,
        checkpoint: None,
        ..order.clone()
    };
    match start(&order).and_then(interleaving) {
        Some(before) => {
            failure.interleaving = with_last(before, &failure.schedule.steps);
        }
        None => report.warnings.push(NOT_SHOWN.to_owned()),
    }
    report
}

/// What the process shows, if the program can be run up to the last step.
fn interleaving(mut worker: Worker) -> Option<Interleaving> {
    worker.answers().find_map(|answer| match answer {
        Answer::Interleaving(interleaving) => Some(interleaving),
        Answer::Progress(_)
        | Answer::Report(_)
        | Answer::Refused(_)
        | Answer::Verified(_)
        | Answer::Asked(_) => None,
    })
}

fn report_without(order: &Order, trailed: Trailed, ended: &str) -> Report {
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
        accepted: Vec::new(),
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

/// Said where there is no interleaving.
const NOT_SHOWN: &str = "the interleaving cannot be shown: run up to its last step the program does not do the same again";

/// The interleaving that goes on with the last of these steps, which ended the process.
fn with_last(before: Interleaving, steps: &[SavedStep]) -> Interleaving {
    let mut interleaving = before;
    let Some(last) = steps.last() else {
        return interleaving;
    };
    let name = name_of(&last.thread);
    let known = interleaving.threads.iter().position(|known| *known == name);
    let thread = known.unwrap_or(interleaving.threads.len());
    if known.is_none() {
        interleaving.threads.push(name);
    }
    interleaving.ends = vec![String::new(); interleaving.threads.len()];
    interleaving.ends[thread] = "ended the process".to_owned();
    interleaving.rows.push(Row {
        thread,
        text: "goes on, and the process ends".to_owned(),
        failed: true,
        ..Row::default()
    });
    interleaving
}

/// What a thread with this spawn path is called.
fn name_of(path: &str) -> String {
    match path.split_once('.') {
        Some((_, path)) => format!("T{path}"),
        None => "main".to_owned(),
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
        is_enforceable: order.verify.is_some(),
    }
}
