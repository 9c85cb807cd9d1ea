//! Watches over the process that checks a program: it is asked to stop when the user or a time limit says so, and killed
//! if it does not. Whatever the program does there, the command goes on.

use crate::fatality;
use crate::refusal::Refusal;
use native::{Answer, Haste, Order, Patience, Worker};
use report::{Interleaving, Limit, Report, Trailed};
use std::process::ExitStatus;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Between two looks at the process.
const LOOK: Duration = Duration::from_millis(10);
/// Time that a process has for its report. It is killed when it has had it.
const PATIENCE: Duration = Duration::from_millis(600);
/// The same by the wall clock, for a machine that is busy with other things.
const LONGEST: Duration = Duration::from_secs(20);

/// A process that checks a program, under watch.
pub struct Guard {
    worker: Worker,
    answers: Receiver<Answer>,
    started: Instant,
    looked: Instant,
    time_limit: Option<Duration>,
    /// Why it is to stop, and how long it could have done so.
    stopping: Option<(Limit, Patience)>,
    /// How it ended. The rest of its answers may still be on its way.
    ended: Option<ExitStatus>,
}

/// What is heard of the process.
pub enum Heard {
    Answer(Answer),
    /// It ended like this, and has answered nothing more.
    Ended(ExitStatus),
    /// It did not stop for this reason, and was killed.
    Killed(Limit),
}

impl Guard {
    /// Watches over a process that knows this limit of time.
    pub fn over(mut worker: Worker, time_limit: Option<Duration>) -> Guard {
        let (sender, answers) = channel();
        let mut told = worker.answers();
        // Ends with the process, or when nothing listens any more.
        thread::spawn(move || told.any(|answer| sender.send(answer).is_err()));
        Guard {
            worker,
            answers,
            started: Instant::now(),
            looked: Instant::now(),
            time_limit,
            stopping: None,
            ended: None,
        }
    }

    /// Waits for the next answer or the end. `stops` says whether the process is to stop.
    pub fn listen(&mut self, stops: impl Fn() -> bool) -> Result<Heard, Refusal> {
        loop {
            // A process that never falls silent is looked at, too.
            let is_news = self.stopping.is_none() && stops();
            if (is_news || self.looked.elapsed() >= LOOK)
                && let Some(heard) = self.look(stops())?
            {
                return Ok(heard);
            }
            match self.answers.recv_timeout(LOOK) {
                Ok(answer) => return Ok(Heard::Answer(answer)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => thread::sleep(LOOK),
            }
        }
    }

    fn look(&mut self, stops: bool) -> Result<Option<Heard>, Refusal> {
        self.looked = Instant::now();
        if let Some(how) = self.ended {
            return Ok(match self.answers.try_recv() {
                Ok(answer) => Some(Heard::Answer(answer)),
                Err(TryRecvError::Empty) => None,
                Err(TryRecvError::Disconnected) => Some(Heard::Ended(how)),
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
                    return Ok(Some(Heard::Killed(limit)));
                }
            }
            None if stops => {
                self.worker.interrupt();
                self.stopping = Some((Limit::Interrupted, self.worker.patience()));
            }
            // It knows its limit.
            None if is_late => self.stopping = Some((Limit::Time, self.worker.patience())),
            None => {}
        }
        Ok(None)
    }

    /// Gives it an errand, when it has none.
    pub fn tell(&mut self, words: &[u8]) -> Result<(), Refusal> {
        self.worker.tell(words).map_err(|error| Refusal::System {
            what: "tell a job what to do",
            error,
        })
    }

    /// Lets others ask for the end of an errand.
    pub fn haste(&self) -> Result<Haste, Refusal> {
        self.worker.haste().map_err(|error| Refusal::System {
            what: "reach a job",
            error,
        })
    }

    /// What the errand brought that it has done.
    pub fn brought(&self) -> Result<Vec<u8>, Refusal> {
        self.worker.brought().map_err(|error| Refusal::System {
            what: "read what a job has done",
            error,
        })
    }

    /// Why it was asked to stop, if it was.
    pub fn stopping(&self) -> Option<Limit> {
        self.stopping.as_ref().map(|(limit, _)| *limit)
    }

    /// What it has done so far, also if it has died.
    pub fn trail(&self) -> Option<Trailed> {
        self.worker.trail()
    }

    /// The report of what the process had done when it stopped for this reason without one.
    pub fn unfinished(&self, order: &Order, limit: Limit, is_killed: bool) -> Report {
        let mut report = fatality::unfinished(order, self.trail(), limit, is_killed);
        report.elapsed_s = self.started.elapsed().as_secs_f64();
        report
    }

    /// What comes before the last step of a schedule, as the process shows it.
    pub fn interleaving(mut self, stops: impl Fn() -> bool) -> Option<Interleaving> {
        loop {
            match self.listen(&stops) {
                Ok(Heard::Answer(Answer::Interleaving(interleaving))) => return Some(interleaving),
                Ok(Heard::Answer(_)) => {}
                Ok(Heard::Ended(_) | Heard::Killed(_)) | Err(_) => return None,
            }
        }
    }

    /// How the process ends, whatever it answers; nothing if it had to be killed.
    pub fn end(&mut self, stops: impl Fn() -> bool) -> Option<ExitStatus> {
        loop {
            match self.listen(&stops) {
                Ok(Heard::Answer(_)) => {}
                Ok(Heard::Ended(ended)) => return Some(ended),
                Ok(Heard::Killed(_)) | Err(_) => return None,
            }
        }
    }
}
