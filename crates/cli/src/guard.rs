//! Watches the process that checks a program. When the user or a time limit requires it, the
//! process is asked to stop, and killed if it does not stop. The command survives whatever the
//! program does in that process.

use crate::fatality;
use crate::refusal::Refusal;
use native::{Answer, EarlyEnd, Order, Patience, Worker};
use report::{Interleaving, Limit, Report, Trailed};
use std::process::ExitStatus;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Interval between two checks of the process.
const CHECK_INTERVAL: Duration = Duration::from_millis(10);
/// The time that a process gets for its report before it is killed. Waits for a processor do not
/// count.
const PATIENCE: Duration = Duration::from_millis(600);
/// The wall-clock limit for the report, for a machine that is busy with other work.
const LONGEST: Duration = Duration::from_secs(20);

/// A watched process that checks a program.
pub struct Guard {
    worker: Worker,
    answers: Receiver<Answer>,
    started: Instant,
    last_check: Instant,
    time_limit: Option<Duration>,
    /// Why the process must stop, and the time that it has had to stop.
    stopping: Option<(Limit, Patience)>,
    /// The exit status, if the process ended. Some of its answers may not have arrived yet.
    ended: Option<ExitStatus>,
}

/// A message from the process, or its end.
pub enum Received {
    Answer(Answer),
    /// The process ended with this status, and there are no more answers.
    Ended(ExitStatus),
    /// The process did not stop for this reason and was killed.
    Killed(Limit),
}

impl Guard {
    /// Watches a process that has this time limit in its order.
    pub fn over(mut worker: Worker, time_limit: Option<Duration>) -> Guard {
        let (sender, answers) = channel();
        let mut reported = worker.answers();
        // Ends with the process, or when the receiver is dropped.
        thread::spawn(move || reported.any(|answer| sender.send(answer).is_err()));
        Guard {
            worker,
            answers,
            started: Instant::now(),
            last_check: Instant::now(),
            time_limit,
            stopping: None,
            ended: None,
        }
    }

    /// Waits for the next answer or the end of the process. `stops` returns whether the process
    /// must stop.
    pub fn listen(&mut self, stops: impl Fn() -> bool) -> Result<Received, Refusal> {
        loop {
            // A process that sends answers without a pause must be checked, too.
            let is_news = self.stopping.is_none() && stops();
            if (is_news || self.last_check.elapsed() >= CHECK_INTERVAL)
                && let Some(received) = self.check(stops())?
            {
                return Ok(received);
            }
            match self.answers.recv_timeout(CHECK_INTERVAL) {
                Ok(answer) => return Ok(Received::Answer(answer)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => thread::sleep(CHECK_INTERVAL),
            }
        }
    }

    fn check(&mut self, stops: bool) -> Result<Option<Received>, Refusal> {
        self.last_check = Instant::now();
        if let Some(how) = self.ended {
            return Ok(match self.answers.try_recv() {
                Ok(answer) => Some(Received::Answer(answer)),
                Err(TryRecvError::Empty) => None,
                Err(TryRecvError::Disconnected) => Some(Received::Ended(how)),
            });
        }
        let ended = self.worker.ended().map_err(|error| Refusal::System {
            what: "wait for the program",
            error,
        })?;
        if let Some(status) = ended {
            self.worker.kill();
            self.ended = Some(status);
            return Ok(None);
        }
        let is_late = self
            .time_limit
            .is_some_and(|limit| self.started.elapsed() > limit);
        match &mut self.stopping {
            Some((limit, patience)) => {
                let has_had = patience.spent();
                if has_had > PATIENCE || patience.elapsed() > LONGEST {
                    let limit = *limit;
                    self.worker.kill();
                    return Ok(Some(Received::Killed(limit)));
                }
            }
            None if stops => {
                self.worker.interrupt();
                self.stopping = Some((Limit::Interrupted, self.worker.patience()));
            }
            // The order contains the time limit, so the process stops by itself.
            None if is_late => self.stopping = Some((Limit::Time, self.worker.patience())),
            None => {}
        }
        Ok(None)
    }

    /// Gives an errand to the process, which must not have an errand already.
    pub fn assign(&mut self, words: &[u8]) -> Result<(), Refusal> {
        self.worker.assign(words).map_err(|error| Refusal::System {
            what: "send a part of the search to a job",
            error,
        })
    }

    /// Returns a handle that can ask for the early end of an errand.
    pub fn early_end(&self) -> Result<EarlyEnd, Refusal> {
        self.worker.early_end().map_err(|error| Refusal::System {
            what: "reach a job",
            error,
        })
    }

    /// Returns the result of the errand that is done.
    pub fn brought(&self) -> Result<Vec<u8>, Refusal> {
        self.worker.brought().map_err(|error| Refusal::System {
            what: "read the result of a job",
            error,
        })
    }

    /// Returns why the process was asked to stop, if it was.
    pub fn stopping(&self) -> Option<Limit> {
        self.stopping.as_ref().map(|(limit, _)| *limit)
    }

    /// Returns the progress of the process so far, even if it has died.
    pub fn trail(&self) -> Option<Trailed> {
        self.worker.trail()
    }

    /// Returns a report for a process that had to stop for this reason and sent no report.
    pub fn unfinished(&self, order: &Order, limit: Limit, is_killed: bool) -> Report {
        let mut report = fatality::unfinished(order, self.trail(), limit, is_killed);
        report.elapsed_s = self.started.elapsed().as_secs_f64();
        report
    }

    /// Waits until the process reports the interleaving before the last step of a schedule. Returns
    /// `None` if the process ends without this report.
    pub fn interleaving(mut self, stops: impl Fn() -> bool) -> Option<Interleaving> {
        loop {
            match self.listen(&stops) {
                Ok(Received::Answer(Answer::Interleaving(interleaving))) => {
                    return Some(interleaving);
                }
                Ok(Received::Answer(_)) => {}
                Ok(Received::Ended(_) | Received::Killed(_)) | Err(_) => return None,
            }
        }
    }

    /// Waits for the end of the process and ignores its answers. Returns `None` if the process had
    /// to be killed, or if an error occurred.
    pub fn end(&mut self, stops: impl Fn() -> bool) -> Option<ExitStatus> {
        loop {
            match self.listen(&stops) {
                Ok(Received::Answer(_)) => {}
                Ok(Received::Ended(ended)) => return Some(ended),
                Ok(Received::Killed(_)) | Err(_) => return None,
            }
        }
    }
}
