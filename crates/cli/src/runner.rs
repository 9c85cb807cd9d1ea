//! A process that carries out errands. If it dies, another process replaces it.

use crate::fatality;
use crate::guard::{Guard, Received};
use crate::refusal::Refusal;
use mazurka::shorter_errand;
use native::{Answer, EarlyEnd, Order, Worker, ending};
use report::{Limit, Trailed};
use std::borrow::Cow;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::sync::atomic::AtomicBool;

/// An errand is given up after this many processes have died during it. Each attempt runs fewer
/// executions than the last.
pub const ATTEMPTS: u32 = 5;

/// The program that processes run.
#[derive(Clone)]
pub struct Executable {
    /// Its file.
    pub path: PathBuf,
    /// The name of the program as its first argument, and its other arguments.
    pub arguments: Vec<OsString>,
    /// Folder of its libraries if it comes from another machine. Its environment is then cleared.
    pub libraries: Option<PathBuf>,
}

impl Executable {
    /// Starts the program to carry out an order.
    pub fn start(&self, order: &Order) -> Result<Worker, Refusal> {
        Worker::start(self.command(), &self.arguments, order).map_err(not_started)
    }

    /// Starts the program to carry out errands. Each errand contains its own time limit.
    pub fn start_for_errands(&self, order: &Order) -> Result<Guard, Refusal> {
        let worker = Worker::start_for_errands(self.command(), &self.arguments, order);
        Ok(Guard::over(worker.map_err(not_started)?, None))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        if let Some(libraries) = &self.libraries {
            command
                .env_clear()
                .env("PATH", "/usr/local/bin:/usr/bin:/bin")
                .env("LD_LIBRARY_PATH", libraries);
        }
        command
    }
}

fn not_started(error: io::Error) -> Refusal {
    Refusal::System {
        what: "start the program",
        error,
    }
}

/// The outcome of an errand.
pub enum Carried {
    /// The errand is done, with this result.
    Brought(Vec<u8>),
    /// The process was asked to stop and no longer answered.
    Stopped(Trailed, Limit),
    /// The program ended the process in this execution.
    Crashed(Trailed, ExitStatus),
    /// [`ATTEMPTS`] processes were killed, but not by the program. The last one was killed in this
    /// execution.
    Lost(Trailed, ExitStatus),
}

/// A process that carries out errands; see the module.
pub struct Runner<'r> {
    pub executable: &'r Executable,
    pub order: &'r Order,
    /// Set when the whole search must stop.
    pub stop: &'r AtomicBool,
    pub guard: Option<Guard>,
    /// The number of processes that have ended.
    pub ended: u32,
}

impl Runner<'_> {
    /// Returns a handle that can ask for the early end of the next errand.
    pub fn early_end(&mut self) -> Result<EarlyEnd, Refusal> {
        self.guard()?.early_end()
    }

    fn guard(&mut self) -> Result<&mut Guard, Refusal> {
        let guard = match self.guard.take() {
            Some(guard) => guard,
            None => self.executable.start_for_errands(self.order)?,
        };
        Ok(self.guard.insert(guard))
    }

    /// Carries out an errand. Gives up if `stops` says that the errand is no longer needed.
    pub fn carry_out(
        &mut self,
        words: &[u8],
        stops: impl Fn() -> bool,
    ) -> Result<Carried, Refusal> {
        let mut words = Cow::Borrowed(words);
        for attempt in 1.. {
            let order = self.order;
            let guard = self.guard()?;
            guard.assign(&words)?;
            let ended = match result_of(guard, order, &stops)? {
                Ok(words) => return Ok(Carried::Brought(words)),
                Err(ended) => ended,
            };
            let (trailed, stopping) = (guard.trail(), guard.stopping());
            self.guard = None;
            self.ended += 1;
            let Some(ended) = ended.filter(|_| stopping.is_none()) else {
                let limit = stopping.unwrap_or(Limit::Interrupted);
                return Ok(Carried::Stopped(trailed.unwrap_or_default(), limit));
            };
            if ended.success() {
                return Err(Refusal::ended_by_itself(&self.order.name));
            }
            match trailed {
                Some(trailed) if !self.is_from_outside(&trailed, ended) => {
                    return Ok(Carried::Crashed(trailed, ended));
                }
                None if !fatality::may_be_from_outside(ended) => {
                    return Err(Refusal::WorkerEnded {
                        program: self.order.name.clone(),
                        ended: ending(ended),
                    });
                }
                _ if attempt < ATTEMPTS => words = Cow::Owned(shorter_errand(&words)),
                trailed => return Ok(Carried::Lost(trailed.unwrap_or_default(), ended)),
            }
        }
        unreachable!("the last of {ATTEMPTS} attempts returns")
    }

    fn is_from_outside(&self, trailed: &Trailed, ended: ExitStatus) -> bool {
        let start = |order: &Order| self.executable.start(order).ok();
        fatality::is_from_outside(self.order, trailed, ended, &start, self.stop)
    }
}

/// Returns the result of the errand. The inner error is the exit status of the process if it ended
/// by itself, or `None` if it had to be killed.
fn result_of(
    guard: &mut Guard,
    order: &Order,
    stops: impl Fn() -> bool,
) -> Result<Result<Vec<u8>, Option<ExitStatus>>, Refusal> {
    loop {
        match guard.listen(&stops)? {
            Received::Answer(Answer::Brought) => return Ok(Ok(guard.brought()?)),
            Received::Answer(Answer::Refused(reason)) => {
                let program = order.name.clone();
                return Err(Refusal::Worker { program, reason });
            }
            Received::Answer(_) => {}
            Received::Killed(_) => return Ok(Err(None)),
            Received::Ended(ended) => return Ok(Err(Some(ended))),
        }
    }
}
