//! A search by several processes: each does one slice after the other, and one of them makes the report.

use crate::fatality;
use crate::guard::{Guard, Heard};
use crate::progress_line::ProgressLine;
use crate::refusal::Refusal;
use explore::Observer;
use mazurka::{Division, Errand};
use native::{Answer, Order, Worker, ending};
use report::{Limit, Report, Trailed};
use std::ffi::OsString;
use std::io;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Between two looks at the search.
const LOOK: Duration = Duration::from_millis(10);

/// Time for the report of a search that was to end.
const GRACE: Duration = Duration::from_secs(1);

/// A slice is given up that has lost so many processes.
const ATTEMPTS: u32 = 3;

/// The program that the processes run.
pub struct Executable {
    pub path: PathBuf,
    /// The name that it knows itself by, and its arguments.
    pub arguments: Vec<OsString>,
}

impl Executable {
    /// Starts it to carry out an order.
    pub fn start(&self, order: &Order) -> Result<Worker, Refusal> {
        Worker::start(&self.path, &self.arguments, order).map_err(not_started)
    }
}

/// A process that does slices, each of which knows its time.
fn started(executable: &Executable, order: &Order) -> Result<Guard, Refusal> {
    let Executable { path, arguments } = executable;
    let worker = Worker::start_for_errands(path, arguments, order).map_err(not_started)?;
    Ok(Guard::over(worker, None))
}

fn not_started(error: io::Error) -> Refusal {
    Refusal::System {
        what: "start the program",
        error,
    }
}

/// A search under way.
struct Crew<'c> {
    division: &'c Division,
    executable: &'c Executable,
    order: &'c Order,
    stop: &'c AtomicBool,
    /// The first thing that ended the search before it was done.
    trouble: Mutex<Option<Trouble>>,
    /// What is to be said of processes that were ended.
    warnings: Mutex<Vec<String>>,
    /// The sum of the peaks of resident memory of all processes but the last.
    memory: AtomicU64,
}

/// What ends a search before it is done.
enum Trouble {
    /// It cannot be done.
    Refused(Box<Refusal>),
    /// The program ended its process, in this execution.
    Crashed(Box<Trailed>, ExitStatus),
    /// Processes were ended, and not by the program.
    Lost,
}

impl From<Refusal> for Trouble {
    fn from(refusal: Refusal) -> Trouble {
        Trouble::Refused(Box::new(refusal))
    }
}

/// Does what is left of the search with so many processes that carry out this order.
pub fn search(
    division: Division,
    executable: &Executable,
    order: &Order,
    stop: &AtomicBool,
    line: &ProgressLine,
) -> Result<Report, Refusal> {
    let jobs = division.jobs();
    // It is the whole search that is saved.
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
    let first = started(executable, &order)?;
    let first = crew.search(jobs, first, line);
    let Crew {
        trouble,
        warnings,
        memory,
        ..
    } = crew;
    let trouble = trouble.into_inner().unwrap_or_else(PoisonError::into_inner);
    let found = division.trailed();
    let mut report = match trouble {
        Some(Trouble::Refused(refusal)) => return Err(*refusal),
        Some(Trouble::Crashed(trailed, ended)) if order.keep_going || found.sighted.is_empty() => {
            let trailed = Trailed {
                execution: found.execution + 1,
                coarse: trailed.coarse,
                steps: trailed.steps,
                ..found
            };
            let mut report = fatality::report(&order, trailed, ended, |order| {
                let guard = fatality::repeat(order, &|order| executable.start(order).ok())?;
                guard.interleaving(|| stop.load(Relaxed))
            });
            report.elapsed_s = division.elapsed_s();
            report
        }
        Some(Trouble::Crashed(..) | Trouble::Lost) | None => {
            let elapsed_s = division.elapsed_s();
            let time_left = division.time_left();
            let began = Instant::now();
            let is_late = || time_left.is_some_and(|left| began.elapsed() >= left);
            let is_over = || stop.load(Relaxed) || is_late();
            let words = division.close().map_err(|error| Refusal::Check {
                program: order.name.clone(),
                error,
            })?;
            let guard = first.map_or_else(|| started(executable, &order), Ok)?;
            let ended = conclude(guard, &words, &order, is_over)?;
            ended.unwrap_or_else(|(limit, is_killed)| {
                let mut report = fatality::unfinished(&order, Some(found), limit, is_killed);
                report.elapsed_s = elapsed_s;
                report
            })
        }
    };
    report.jobs = jobs;
    let warnings = warnings.into_inner();
    report
        .warnings
        .extend(warnings.unwrap_or_else(PoisonError::into_inner));
    report.peak_rss_bytes = report.peak_rss_bytes.max(memory.into_inner());
    Ok(report)
}

impl Crew<'_> {
    /// Does slices until none is left, the first one in this process. Gives it back if it is there still.
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
                thread::park_timeout(LOOK);
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
            self.note(Refusal::Check { program, error }.into());
        }
    }

    fn note(&self, trouble: Trouble) {
        let mut first = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(trouble);
        self.division.halt(Limit::Interrupted);
    }

    /// Does slices in one process until none is left. Gives back the one that it was given, if it is there still: another one
    /// ends with the thread that has started it.
    fn work(&self, first: Option<Guard>) -> Option<Guard> {
        let is_given = first.is_some();
        let (mut guard, mut peak, mut lost) = (first, 0, 0);
        while let Some(errand) = self.division.take() {
            match self.carry_out(&mut guard, &mut lost, errand) {
                Ok(bytes) => peak = bytes.unwrap_or(peak),
                Err(trouble) => self.note(trouble),
            }
        }
        self.memory.fetch_add(peak, Relaxed);
        guard.filter(|_| is_given && lost == 0)
    }

    /// Does a slice. Tells the peak of the resident memory of the process in bytes, if it is known.
    fn carry_out(
        &self,
        guard: &mut Option<Guard>,
        lost: &mut u32,
        errand: Errand<'_>,
    ) -> Result<Option<u64>, Trouble> {
        for attempt in 1.. {
            let own = match guard.take() {
                Some(own) => own,
                None => started(self.executable, self.order)?,
            };
            let own = guard.insert(own);
            own.tell(&errand.words())?;
            let ended = match self.heard(own)? {
                Ok(words) => return Ok(errand.bring(&words)),
                Err(ended) => ended,
            };
            let (trailed, stopping) = (own.trail(), own.stopping());
            *guard = None;
            *lost += 1;
            let Some(ended) = ended.filter(|_| stopping.is_none()) else {
                let trailed = trailed.unwrap_or_default();
                errand.break_off(&trailed, stopping.unwrap_or(Limit::Interrupted));
                self.warn(fatality::told_of_killed(&trailed));
                return Ok(None);
            };
            if ended.success() {
                return Err(Refusal::ended_by_itself(&self.order.name).into());
            }
            match trailed {
                Some(trailed) if !self.is_from_outside(&trailed, ended) => {
                    errand.break_off(&trailed, Limit::Interrupted);
                    return Err(Trouble::Crashed(Box::new(trailed), ended));
                }
                None if !fatality::may_be_from_outside(ended) => {
                    let refusal = Refusal::WorkerEnded {
                        program: self.order.name.clone(),
                        ended: ending(ended),
                    };
                    return Err(refusal.into());
                }
                _ if attempt < ATTEMPTS => {}
                trailed => {
                    let trailed = trailed.unwrap_or_default();
                    errand.break_off(&trailed, Limit::Interrupted);
                    self.warn(fatality::told_of_lost(&trailed, ended, ATTEMPTS));
                    return Err(Trouble::Lost);
                }
            }
        }
        unreachable!("a slice is given up after {ATTEMPTS} attempts")
    }

    fn warn(&self, warnings: Vec<String>) {
        let mut own = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        own.extend(warnings);
    }

    fn is_from_outside(&self, trailed: &Trailed, ended: ExitStatus) -> bool {
        let start = |order: &Order| self.executable.start(order).ok();
        fatality::is_from_outside(self.order, trailed, ended, &start, self.stop)
    }

    /// What the errand has brought, or how its process ended, if it ended by itself.
    fn heard(&self, guard: &mut Guard) -> Result<Result<Vec<u8>, Option<ExitStatus>>, Trouble> {
        loop {
            match guard.listen(|| self.division.is_stopped())? {
                Heard::Answer(Answer::Brought) => return Ok(Ok(guard.brought()?)),
                Heard::Answer(Answer::Refused(reason)) => {
                    let program = self.order.name.clone();
                    return Err(Refusal::Worker { program, reason }.into());
                }
                Heard::Answer(_) => {}
                Heard::Killed(_) => return Ok(Err(None)),
                Heard::Ended(ended) => return Ok(Err(Some(ended))),
            }
        }
    }
}

/// Lets the process make the report. Without one it tells why it was ended, and whether it had to be killed.
fn conclude(
    mut guard: Guard,
    words: &[u8],
    order: &Order,
    is_over: impl Fn() -> bool,
) -> Result<Result<Report, (Limit, bool)>, Refusal> {
    guard.tell(words)?;
    // Whoever ended the search in time has time for the report.
    let began = Instant::now();
    let grace = if is_over() { GRACE } else { Duration::ZERO };
    loop {
        match guard.listen(|| is_over() && began.elapsed() >= grace)? {
            Heard::Answer(Answer::Report(report)) => return Ok(Ok(*report)),
            Heard::Answer(Answer::Refused(reason)) => {
                let program = order.name.clone();
                return Err(Refusal::Worker { program, reason });
            }
            Heard::Answer(_) => {}
            Heard::Killed(limit) => return Ok(Err((limit, true))),
            Heard::Ended(_) => {
                return Ok(Err((guard.stopping().unwrap_or(Limit::Interrupted), false)));
            }
        }
    }
}
