//! The program that a user explores interactively.

use crate::arguments::CheckOptions;
use crate::check::{self, checker};
use crate::guard::{Guard, Received};
use crate::native_check::{self, Ready};
use crate::progress_line::ProgressLine;
use crate::refusal::Refusal;
use crate::subject::Subject;
use crate::time_limit::TimeLimit;
use native::{Answer, Order, ending};
use report::{Position, Report, ScheduleFile, Tree, Visit};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// How long a program may take to reach a position.
const PATIENCE: Duration = Duration::from_secs(30);

/// The time that a request for a position waits for other runs of the program, and the interval
/// between attempts.
const TURN: Duration = Duration::from_secs(2);
const CHECK_INTERVAL: Duration = Duration::from_millis(5);

/// Limits on the executions and on the time of the search tree that is shown before a search has
/// ended.
const SKETCHED: u64 = 1000;
const SKETCH: TimeLimit = TimeLimit(Duration::from_secs(1));

/// A program that can be run to any position.
pub struct Explored {
    options: CheckOptions,
    subject: Subject,
    order: Order,
    /// The executable, if the program is in machine code.
    ready: Option<Ready>,
    /// Locked while the program runs. `None` if simultaneous runs do not interfere.
    alone: Option<Mutex<()>>,
    /// Set when the command must end.
    stop: Arc<AtomicBool>,
}

impl Explored {
    /// Compiles the program if necessary.
    pub fn open(options: CheckOptions, stop: Arc<AtomicBool>) -> Result<Explored, Refusal> {
        let subject = Subject::of(&options)?;
        let line = ProgressLine::new(!options.report.quiet);
        let (name, ready) = match &subject {
            Subject::Corpus(instance) => (instance.to_string(), None),
            Subject::Native(program) => {
                let ready = native_check::ready(&options, program, &line, &stop)?;
                (program.name(), Some(ready))
            }
        };
        let shares_files = ready.as_ref().is_some_and(|ready| ready.shares_files);
        Ok(Explored {
            alone: shares_files.then(Mutex::default),
            order: native_check::order(&options, name)?,
            options,
            subject,
            ready,
            stop,
        })
    }

    /// Returns the name of the program.
    pub fn name(&self) -> &str {
        &self.order.name
    }

    /// Refuses a schedule of another program.
    pub fn is_of_program(&self, schedule: &ScheduleFile) -> Result<(), Refusal> {
        match schedule.program == self.order.name {
            true => Ok(()),
            false => Err(Refusal::ScheduleOfOther {
                program: self.order.name.clone(),
                other: schedule.program.clone(),
            }),
        }
    }

    /// Returns the position after a schedule; without a schedule, the start.
    pub fn position(
        &self,
        schedule: Option<ScheduleFile>,
        visit: Visit,
    ) -> Result<Position, Refusal> {
        let order = Order {
            replay: schedule,
            visit: Some(visit),
            ..self.order.clone()
        };
        let alone = self.alone.as_ref();
        let _alone = alone.map(|alone| self.patiently(alone)).transpose()?;
        match (&self.subject, &self.ready) {
            (Subject::Native(_), Some(ready)) => self.ask(ready, &order),
            (Subject::Native(_), None) => unreachable!("a native program is ready"),
            (Subject::Corpus(instance), _) => {
                let checker = checker(&self.options, &self.order);
                match checker.visit(&order, &visit, instance.program()) {
                    Ok(Answer::Position(position)) => Ok(*position),
                    Ok(_) => unreachable!("the answer to a visit is a position"),
                    Err(error) => Err(Refusal::Check {
                        program: order.name,
                        error,
                    }),
                }
            }
        }
    }

    /// Waits while another position is computed. A search takes longer, so the wait fails during a
    /// search.
    fn patiently<'a>(&self, alone: &'a Mutex<()>) -> Result<MutexGuard<'a, ()>, Refusal> {
        let since = Instant::now();
        loop {
            match alone.try_lock() {
                Ok(held) => return Ok(held),
                Err(TryLockError::Poisoned(held)) => return Ok(held.into_inner()),
                Err(TryLockError::WouldBlock) if since.elapsed() > TURN => {
                    return Err(Refusal::Searching);
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(CHECK_INTERVAL),
            }
        }
    }

    /// Queries a process that runs the program.
    fn ask(&self, ready: &Ready, order: &Order) -> Result<Position, Refusal> {
        let program = || order.name.clone();
        let mut guard = Guard::over(ready.start(order)?, Some(PATIENCE));
        loop {
            match guard.listen(|| self.stop.load(Relaxed))? {
                Received::Answer(Answer::Position(mut position)) => {
                    position.schedule.recipe = Some(ready.recipe.clone());
                    return Ok(*position);
                }
                Received::Answer(Answer::Refused(reason)) => {
                    let program = program();
                    return Err(Refusal::Worker { program, reason });
                }
                Received::Answer(_) => {}
                Received::Ended(status) => {
                    return Err(Refusal::WorkerEnded {
                        program: program(),
                        ended: ending(status),
                    });
                }
                Received::Killed(_) => {
                    return Err(Refusal::Worker {
                        program: program(),
                        reason: "it did not reach this position within 30 s".to_owned(),
                    });
                }
            }
        }
    }

    /// Returns the tree of the first executions of the search, to be shown while the search runs.
    /// Returns `None` if these executions cannot be searched.
    pub fn sketch(&self) -> Option<Tree> {
        let mut options = self.options.clone();
        options.jobs = Some(1);
        options.max_executions = Some(
            options
                .max_executions
                .map_or(SKETCHED, |most| most.min(SKETCHED)),
        );
        let is_longer = |limit: &TimeLimit| limit.0 > SKETCH.0;
        options.time_limit = options
            .time_limit
            .filter(|limit| !is_longer(limit))
            .or(Some(SKETCH));
        let alone = self.alone.as_ref();
        let _alone = alone.map(|alone| alone.lock().unwrap_or_else(PoisonError::into_inner));
        let report = check::search(&options, &self.subject, &ProgressLine::new(false));
        report.ok()?.tree
    }

    /// Searches, as `mazurka check` does.
    pub fn search(&self, line: &ProgressLine) -> Result<Report, Refusal> {
        let alone = self.alone.as_ref();
        let _alone = alone.map(|alone| alone.lock().unwrap_or_else(PoisonError::into_inner));
        check::search(&self.options, &self.subject, line)
    }
}
