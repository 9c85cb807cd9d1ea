//! A search by several processes. Each process runs *slices*, one after another: small pieces of
//! the search, which it receives as errands. One of the processes makes the report.

use crate::fatality;
use crate::guard::{Guard, Received};
use crate::progress_line::ProgressLine;
use crate::refusal::Refusal;
use crate::runner::{ATTEMPTS, Carried, Executable, Runner};
use explore::Observer;
use mazurka::{Division, Errand};
use native::{Answer, Order};
use report::{Limit, Report, Trailed};
use std::panic::resume_unwind;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Interval between two checks of the search.
const CHECK_INTERVAL: Duration = Duration::from_millis(10);

/// Time for the report of a search that was ended early.
const GRACE: Duration = Duration::from_secs(1);

/// A search in progress.
struct Crew<'c> {
    division: &'c Division,
    executable: &'c Executable,
    order: &'c Order,
    stop: &'c AtomicBool,
    /// The first problem that ended the search early.
    trouble: Mutex<Option<Trouble>>,
    /// Warnings about processes that were killed.
    warnings: Mutex<Vec<String>>,
    /// The sum of the peaks of resident memory of all processes except the last.
    memory: AtomicU64,
}

/// A problem that ends a search early.
pub enum Trouble {
    /// The search is impossible.
    Refused(Box<Refusal>),
    /// The program ended its process in this execution.
    Crashed(Box<Trailed>, ExitStatus),
    /// Processes were killed, but not by the program.
    Lost,
}

/// Runs the rest of the search with processes that carry out this order.
pub fn search(
    division: Division,
    executable: &Executable,
    order: &Order,
    stop: &AtomicBool,
    line: &ProgressLine,
) -> Result<Report, Refusal> {
    let jobs = division.jobs();
    // Only this process saves the state, because it alone has the whole search.
    let order = Order {
        checkpoint: None,
        ..order.clone()
    };
    let crew = Crew {
        division: &division,
        executable,
        order: &order,
        stop,
        trouble: Mutex::new(None),
        warnings: Mutex::default(),
        memory: AtomicU64::new(0),
    };
    let first = executable.start_for_errands(&order)?;
    let first = crew.search(jobs, first, line);
    let Crew {
        trouble,
        warnings,
        memory,
        ..
    } = crew;
    let trouble = trouble.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut report = finish(division, trouble, (executable, &order), first, stop)?;
    let warnings = warnings.into_inner();
    report
        .warnings
        .extend(warnings.unwrap_or_else(PoisonError::into_inner));
    report.peak_rss_bytes = report.peak_rss_bytes.max(memory.into_inner());
    Ok(report)
}

/// Returns the report of a search that is over. The first process makes the report if it is alive,
/// otherwise a new process does.
pub fn finish(
    division: Division,
    trouble: Option<Trouble>,
    (executable, order): (&Executable, &Order),
    first: Option<Guard>,
    stop: &AtomicBool,
) -> Result<Report, Refusal> {
    let jobs = division.jobs();
    let elapsed_s = division.elapsed_s();
    let found = division.trailed();
    let unsaved = division.unsaved();
    let mut report = match trouble {
        Some(Trouble::Refused(refusal)) => return Err(*refusal),
        Some(Trouble::Crashed(trailed, ended)) if order.keep_going || found.sighted.is_empty() => {
            let trailed = Trailed {
                execution: found.execution + 1,
                coarse: trailed.coarse,
                memory: trailed.memory,
                steps: trailed.steps,
                ..found
            };
            let mut report = fatality::report(order, trailed, ended, |order| {
                let guard = fatality::repeat(order, &|order| executable.start(order).ok())?;
                guard.interleaving(|| stop.load(Relaxed))
            });
            report.elapsed_s = elapsed_s;
            report
        }
        Some(Trouble::Crashed(..) | Trouble::Lost) | None => {
            let time_left = division.time_left();
            let began = Instant::now();
            let is_late = || time_left.is_some_and(|left| began.elapsed() >= left);
            let is_over = || stop.load(Relaxed) || is_late();
            let words = division.close().map_err(|error| Refusal::Check {
                program: order.name.clone(),
                error,
            })?;
            let guard = first.map_or_else(|| executable.start_for_errands(order), Ok)?;
            let mut ended = conclude(guard, &words, order, is_over)?;
            let is_lost = |ended: &Ended| matches!(ended, Err((Limit::Interrupted, false)));
            for _ in 1..ATTEMPTS {
                if !is_lost(&ended) || is_over() {
                    break;
                }
                let guard = executable.start_for_errands(order)?;
                ended = conclude(guard, &words, order, is_over)?;
            }
            ended.unwrap_or_else(|(limit, is_killed)| {
                let limit = reason(limit, is_late(), stop);
                let mut report = fatality::unfinished(order, Some(found), limit, is_killed);
                report.elapsed_s = elapsed_s;
                report
            })
        }
    };
    report.jobs = jobs;
    report.warnings.extend(unsaved);
    Ok(report)
}

impl Crew<'_> {
    /// Runs slices until none is left. `first` is the process of the first job. Returns this
    /// process if it is still alive.
    fn search(&self, jobs: usize, first: Guard, line: &ProgressLine) -> Option<Guard> {
        let mut progress = line.observer();
        thread::scope(|scope| {
            let waiting = thread::current();
            let start = |first: Option<Guard>| {
                let waiting = waiting.clone();
                scope.spawn(move || {
                    let first = self.work(first);
                    waiting.unpark();
                    first
                })
            };
            let mut threads = vec![start(Some(first))];
            while !threads.iter().all(|thread| thread.is_finished()) {
                thread::park_timeout(CHECK_INTERVAL);
                if self.stop.load(Relaxed) {
                    self.division.halt(Limit::Interrupted);
                } else if self.division.time_left() == Some(Duration::ZERO) {
                    self.division.halt(Limit::Time);
                }
                if threads.len() == 1 && self.division.has_parts() {
                    threads.extend((1..jobs).map(|_| start(None)));
                }
                let (executions, done) = self.division.progress();
                let _ = progress.progressed(executions, done);
                self.save();
            }
            let ended = threads.into_iter().map(|thread| thread.join());
            let ended: Vec<Option<Guard>> = ended
                .map(|first| first.unwrap_or_else(|panic| resume_unwind(panic)))
                .collect();
            self.save();
            ended.into_iter().flatten().next()
        })
    }

    fn save(&self) {
        if let Err(error) = self.division.save() {
            let program = self.order.name.clone();
            self.record_trouble(Trouble::Refused(Box::new(Refusal::Check {
                program,
                error,
            })));
        }
    }

    fn record_trouble(&self, trouble: Trouble) {
        let mut first = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(trouble);
        self.division.halt(Limit::Interrupted);
    }

    /// Runs slices in one process until none is left. Returns the process `first` if it is still
    /// alive. Any other process ends with the thread that started it.
    fn work(&self, first: Option<Guard>) -> Option<Guard> {
        let is_given = first.is_some();
        let mut runner = Runner {
            executable: self.executable,
            order: self.order,
            stop: self.stop,
            guard: first,
            ended: 0,
        };
        let mut peak = 0;
        while let Some(errand) = self.next(&mut runner) {
            match runner.carry_out(&errand.words(), || self.division.is_stopped()) {
                Ok(carried) => peak = self.settle(errand, carried).unwrap_or(peak),
                Err(refusal) => self.record_trouble(Trouble::Refused(Box::new(refusal))),
            }
        }
        self.memory.fetch_add(peak, Relaxed);
        runner.guard.filter(|_| is_given && runner.ended == 0)
    }

    /// Returns the next slice for the process of the runner, or `None` if there is none. The
    /// division can later ask that process to end the slice early.
    fn next(&self, runner: &mut Runner<'_>) -> Option<Errand<'_>> {
        match runner.early_end() {
            Ok(early_end) => self.division.take(Box::new(move || early_end.ask())),
            Err(refusal) => {
                self.record_trouble(Trouble::Refused(Box::new(refusal)));
                None
            }
        }
    }

    /// Records the outcome of a slice. Returns the peak memory of its process in bytes, if known.
    fn settle(&self, errand: Errand<'_>, carried: Carried) -> Option<u64> {
        match carried {
            Carried::Brought(words) => return errand.complete(&words),
            Carried::Stopped(trailed, limit) => {
                let is_late = self.division.time_left() == Some(Duration::ZERO);
                errand.break_off(&trailed, reason(limit, is_late, self.stop));
                self.warn(fatality::warnings_of_killed(&trailed));
            }
            Carried::Crashed(trailed, ended) => {
                errand.break_off(&trailed, Limit::Interrupted);
                self.record_trouble(Trouble::Crashed(Box::new(trailed), ended));
            }
            Carried::Lost(trailed, ended) => {
                errand.break_off(&trailed, Limit::Interrupted);
                self.warn(fatality::warnings_of_lost(&trailed, ended, ATTEMPTS));
                self.record_trouble(Trouble::Lost);
            }
        }
        None
    }

    fn warn(&self, warnings: Vec<String>) {
        let mut collected = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        collected.extend(warnings);
    }
}

/// Returns why a process was stopped: the command also interrupts a process that exceeds the time
/// limit.
fn reason(limit: Limit, is_late: bool, stop: &AtomicBool) -> Limit {
    match limit {
        Limit::Interrupted if is_late && !stop.load(Relaxed) => Limit::Time,
        limit => limit,
    }
}

/// The report of a process. If the process ended without a report: the limit that stopped it
/// (`Interrupted` if nothing did), and whether the command killed it.
type Ended = Result<Report, (Limit, bool)>;

/// Makes the process write the report.
fn conclude(
    mut guard: Guard,
    words: &[u8],
    order: &Order,
    is_over: impl Fn() -> bool,
) -> Result<Ended, Refusal> {
    guard.assign(words)?;
    // If the search was ended early, the process still gets `GRACE` for the report.
    let began = Instant::now();
    let grace = if is_over() { GRACE } else { Duration::ZERO };
    loop {
        match guard.listen(|| is_over() && began.elapsed() >= grace)? {
            Received::Answer(Answer::Report(report)) => return Ok(Ok(*report)),
            Received::Answer(Answer::Refused(reason)) => {
                let program = order.name.clone();
                return Err(Refusal::Worker { program, reason });
            }
            Received::Answer(_) => {}
            Received::Killed(limit) => return Ok(Err((limit, true))),
            Received::Ended(_) => {
                return Ok(Err((guard.stopping().unwrap_or(Limit::Interrupted), false)));
            }
        }
    }
}
