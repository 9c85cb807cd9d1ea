//! Reports on processes that die while they check a program. Such a report uses the exit status of
//! the process, its counts so far, and its steps until it died.

use crate::guard::Guard;
use explore::MemoryModel;
use native::{Order, Worker, ending};
use report::quantity::{count, counted};
use report::{
    Conditions, Coverage, Failure, FailureKind, Interleaving, Limit, Report, Row, SavedStep,
    ScheduleFile, Sighted, Trailed, Verdict,
};
use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

/// Signals that a program causes itself: SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS.
const CRASHES: [i32; 7] = [4, 5, 6, 7, 8, 11, 31];

/// The number of repetitions that must all end at the same step. A kill from outside may hit one
/// step by chance.
const REPETITIONS: u32 = 3;

/// Time limit for one repeated execution.
const REPETITION: Duration = Duration::from_secs(10);

/// Returns the report of a search whose process died in an execution. Repeats the execution in
/// processes that `start` starts. This shows whether the program caused the death, and records all
/// steps but the last.
pub fn examine(
    order: &Order,
    trailed: Trailed,
    ended: ExitStatus,
    start: impl Fn(&Order) -> Option<Worker>,
    stop: &AtomicBool,
) -> Report {
    if order.replay.is_none() && is_from_outside(order, &trailed, ended, &start, stop) {
        return killed(order, &trailed, ended);
    }
    report(order, trailed, ended, |order| {
        repeat(order, &start)?.interleaving(|| stop.load(Relaxed))
    })
}

/// Checks whether the process died in this execution for a reason outside the program.
pub fn is_from_outside(
    order: &Order,
    trailed: &Trailed,
    ended: ExitStatus,
    start: &dyn Fn(&Order) -> Option<Worker>,
    stop: &AtomicBool,
) -> bool {
    if !may_be_from_outside(ended) {
        return false;
    }
    let sighted = crash(trailed, String::new());
    let replay = failure(order, &sighted, trailed).schedule;
    let order = Order {
        replay: Some(replay),
        ..order.clone()
    };
    let mut reached = None;
    (0..REPETITIONS).any(|_| {
        let Some(mut guard) = repeat(&order, start) else {
            return true;
        };
        let again = guard.end(|| stop.load(Relaxed));
        let Some(again_trailed) = guard.trail() else {
            return true;
        };
        let steps = length(&again_trailed);
        // A process that is killed while it makes the report was not killed by the execution.
        let has_ended = again_trailed.counts.has_some();
        let is_elsewhere = reached
            .replace(steps)
            .is_some_and(|reached| reached != steps);
        again != Some(ended) || has_ended || is_elsewhere || steps < length(trailed)
    })
}

/// Returns the number of steps begun in the last execution.
fn length(trailed: &Trailed) -> usize {
    trailed.steps.iter().map(|run| run.choices.len()).sum()
}

/// Starts a process that repeats the schedule of the order. Returns `None` if it cannot be started.
pub fn repeat(order: &Order, start: &dyn Fn(&Order) -> Option<Worker>) -> Option<Guard> {
    let order = Order {
        checkpoint: None,
        time_limit: Some(REPETITION),
        ..order.clone()
    };
    Some(Guard::over(start(&order)?, order.time_limit))
}

/// Checks whether something outside the program may have ended the process in this way.
pub fn may_be_from_outside(ended: ExitStatus) -> bool {
    ended
        .signal()
        .is_some_and(|signal| !CRASHES.contains(&signal))
}

/// Returns the report of a search whose process died in an execution. `before_last` repeats the
/// execution and returns all its steps but the last.
pub fn report(
    order: &Order,
    mut trailed: Trailed,
    ended: ExitStatus,
    before_last: impl FnOnce(&Order) -> Option<Interleaving>,
) -> Report {
    let ended = ending(ended);
    if !order.keep_going && !trailed.sighted.is_empty() {
        let why = format!("the process ended with {ended} before it could show the bug");
        return known(order, &trailed, Limit::Interrupted, why);
    }
    let message = format!(
        "the process that ran the program ended with {ended}: the program ended it, or overwrote the checker's \
         memory"
    );
    let sighted = crash(&trailed, message);
    trailed.sighted.push(sighted);
    trailed.counts.executions = trailed.execution;
    let why = "the process ended; every execution that began is counted".to_owned();
    let mut report = known(order, &trailed, Limit::Interrupted, why);
    let Some(failure) = report.errors.last_mut() else {
        return report;
    };
    let order = Order {
        replay: Some(failure.schedule.clone()),
        is_fatal: true,
        ..order.clone()
    };
    match before_last(&order) {
        Some(before) => {
            failure.interleaving = with_last(before, &failure.schedule.steps);
        }
        None => report.warnings.push(NOT_SHOWN.to_owned()),
    }
    report
}

/// Returns the report of a search whose process reached this limit and ended without a report.
pub fn unfinished(
    order: &Order,
    trailed: Option<Trailed>,
    limit: Limit,
    is_killed: bool,
) -> Report {
    let trailed = trailed.unwrap_or_default();
    let why = match (limit, order.time_limit) {
        (Limit::Time, Some(limit)) => format!("stopped after {limit:?}; raise with --time-limit"),
        _ => "interrupted".to_owned(),
    };
    let mut report = known(order, &trailed, limit, why);
    if is_killed {
        report.warnings.extend(warnings_of_killed(&trailed));
    }
    report
}

/// Returns the warnings about a process that had to be killed.
pub fn warnings_of_killed(trailed: &Trailed) -> Vec<String> {
    let killed = format!(
        "the process that ran the program did not stop and was killed; the numbers cover only the {} that had ended",
        counted(trailed.counts.executions, "execution"),
    );
    [killed].into_iter().chain(under_way(trailed)).collect()
}

/// Returns the warnings about a slice during which `times` processes died. The last one had the
/// status `ended`.
pub fn warnings_of_lost(trailed: &Trailed, ended: ExitStatus, times: u32) -> Vec<String> {
    let lost = format!(
        "{times} processes that ran the same part of the search were killed ({}), but not by the program: perhaps by \
         another process, or because memory ran out; this part is left out",
        ending(ended)
    );
    [lost].into_iter().chain(under_way(trailed)).collect()
}

/// Describes the crash of the process in the last execution begun.
fn crash(trailed: &Trailed, message: String) -> Sighted {
    Sighted {
        kind: FailureKind::Crash,
        message,
        location: None,
        execution: trailed.execution,
        steps: trailed.steps.clone(),
    }
}

/// Returns the report of a search whose process was killed, but not by the program.
fn killed(order: &Order, trailed: &Trailed, ended: ExitStatus) -> Report {
    let why = format!(
        "the process that ran the program was killed ({}), but not by the program: perhaps by another process, or \
         because memory ran out",
        ending(ended)
    );
    let mut report = known(order, trailed, Limit::Interrupted, why);
    report.warnings.extend(under_way(trailed));
    report
}

/// Creates a report from the trail of a search. `limit` and `why` say why the search ended.
fn known(order: &Order, trailed: &Trailed, limit: Limit, why: String) -> Report {
    let counts = trailed.counts;
    let errors = trailed.sighted.iter();
    let errors: Vec<Failure> = errors
        .map(|sighted| failure(order, sighted, trailed))
        .collect();
    let mut report = Report {
        verdict: match errors.is_empty() {
            true => Verdict::Bounded,
            false => Verdict::Bug,
        },
        program: order.name.clone(),
        executions: counts.executions,
        halted: counts.halted,
        blocked: counts.blocked,
        given_up: 0,
        restarts: BTreeMap::new(),
        deadlocks: counts.deadlocks,
        errors,
        warnings: Vec::new(),
        suppressions: order.suppressions.clone(),
        suppressed: Vec::new(),
        accepted: Vec::new(),
        goals: Vec::new(),
        bounds: vec![why],
        limits: vec![limit],
        probes: 0,
        extra: 0,
        events: counts.events,
        max_depth: usize::try_from(counts.max_depth).unwrap_or(usize::MAX),
        coverage: Coverage::default(),
        tree: None,
        algorithm: order.algorithm.parse().unwrap_or_default(),
        memory: memory(order, trailed),
        weak_ordering: None,
        symmetry: false,
        jobs: 1,
        elapsed_s: 0.0,
        compile_s: None,
        peak_rss_bytes: 0,
    };
    for left_out in &order.left_out {
        report.leave_out(left_out.clone(), &order.accept);
    }
    report
}

/// Returns the memory model of the last execution begun.
fn memory(order: &Order, trailed: &Trailed) -> MemoryModel {
    match order.conditions.memory {
        MemoryModel::Auto => trailed.memory,
        chosen => chosen,
    }
}

/// Describes the last execution begun, if there is one.
fn under_way(trailed: &Trailed) -> Option<String> {
    /// The number of turns (consecutive steps of one thread) that are shown.
    const LAST: usize = 12;
    let steps = &trailed.steps;
    let hidden = steps.len().saturating_sub(LAST);
    let turns = steps[hidden..].iter();
    let turns: Vec<String> = turns
        .map(|turn| {
            format!(
                "{} {}",
                name_of(&turn.thread),
                count(turn.choices.len() as u64)
            )
        })
        .collect();
    let turns = match (hidden, turns.is_empty()) {
        (_, true) => "no step".to_owned(),
        (0, false) => turns.join(", "),
        (_, false) => format!("… {}", turns.join(", ")),
    };
    (trailed.execution > 0).then(|| {
        format!(
            "last known schedule, of execution {} (threads and their numbers of steps): {turns}",
            count(trailed.execution)
        )
    })
}

/// The warning if there is no interleaving.
const NOT_SHOWN: &str = "the interleaving cannot be shown: when the program is run again up to the last step, it behaves differently";

/// Adds the last of these steps, which ended the process, to the interleaving before it.
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
        text: "continues, and the process ends".to_owned(),
        failed: true,
        ..Row::default()
    });
    interleaving
}

/// Returns the name of the thread with this spawn path.
fn name_of(path: &str) -> String {
    match path.split_once('.') {
        Some((_, path)) => format!("T{path}"),
        None => "main".to_owned(),
    }
}

fn failure(order: &Order, sighted: &Sighted, trailed: &Trailed) -> Failure {
    Failure {
        kind: sighted.kind,
        message: sighted.message.clone(),
        location: sighted.location.clone(),
        execution: sighted.execution,
        schedule: ScheduleFile {
            program: order.name.clone(),
            kind: sighted.kind,
            message: sighted.message.clone(),
            conditions: Conditions {
                waiting_after_main: true,
                is_enforceable: order.verify.is_some(),
                memory: memory(order, trailed),
                ..order.conditions
            },
            coarse: trailed.coarse.clone(),
            recipe: None,
            by_accesses: true,
            steps: sighted.steps.clone(),
        },
        saved_as: None,
        repeat_with: None,
        interleaving: Interleaving::default(),
        why: None,
        repair: None,
        passing: None,
    }
}
