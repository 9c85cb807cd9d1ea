//! The verification of a program in machine code: by a process of its own for each assignment of inputs.

use super::{Verification, with_inputs};
use crate::arguments::Prefer;
use crate::fatality;
use crate::refusal::Refusal;
use crate::subject::NativeProgram;
use native::{Answer, Order, Verify, Worker, ending, nameless_file};
use report::{Input, Report, Trailed};
use std::ffi::OsString;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Between two looks whether the verification is to stop, while a process works at it.
const LOOK: Duration = Duration::from_millis(20);

/// What became of the verification for one assignment.
pub enum Told {
    /// It ended.
    Report(Box<Report>),
    /// The program has another input.
    Asked(Input),
    /// It was interrupted before there was anything to tell.
    Nothing,
}

/// What a process has told when it says nothing more.
enum Heard {
    Told(Told),
    /// Nothing: it ended like this.
    Nothing(String),
}

impl Verification<'_> {
    /// Verifies for one assignment, and publishes what is verified.
    pub fn of_assignment(
        &mut self,
        program: &NativeProgram,
        index: usize,
    ) -> Result<Told, Refusal> {
        let order = self.order(index);
        if let Heard::Told(told) = self.listen(program, index, &order)? {
            return Ok(told);
        }
        // The process has died: another one, which leaves a trail, shows in which execution.
        let (_file, trail) = nameless_file().map_err(|error| Refusal::System {
            what: "create a file",
            error,
        })?;
        let order = Order {
            trail: Some(trail.clone()),
            ..order
        };
        let ended = match self.listen(program, index, &order)? {
            Heard::Told(told) => return Ok(told),
            Heard::Nothing(ended) => ended,
        };
        let Some(trailed) = Trailed::read(&trail) else {
            return Err(Refusal::WorkerEnded {
                program: self.trace.program.clone(),
                ended,
            });
        };
        let start = |order: &Order| self.start(program, index, order).ok();
        let report = fatality::report(&order, trailed, &ended, start);
        self.exclude(index, &report.errors[0].message)?;
        Ok(Told::Report(Box::new(report)))
    }

    /// Listens to a process that verifies until it says nothing more.
    fn listen(
        &mut self,
        program: &NativeProgram,
        index: usize,
        order: &Order,
    ) -> Result<Heard, Refusal> {
        let mut worker = self.start(program, index, order)?;
        let (sender, answers) = channel();
        let told = worker.answers();
        thread::spawn(move || {
            // Nobody listens any more when this fails.
            told.map(|answer| sender.send(answer)).find(Result::is_err)
        });
        let mut is_stopped = false;
        loop {
            let answer = answers.recv_timeout(LOOK);
            let stops = match answer {
                Ok(Answer::Verified(case)) => self.publish(index, *case)?.is_break(),
                Ok(Answer::Report(report)) => return Ok(Heard::Told(Told::Report(report))),
                Ok(Answer::Asked(input)) => return Ok(Heard::Told(Told::Asked(input))),
                Ok(Answer::Refused(reason)) => {
                    let program = self.trace.program.clone();
                    return Err(Refusal::Worker { program, reason });
                }
                Ok(Answer::Interleaving(_)) => false,
                Ok(Answer::Progress(text)) => {
                    self.line.say(text);
                    false
                }
                Err(RecvTimeoutError::Timeout) => self.is_over(),
                Err(RecvTimeoutError::Disconnected) if is_stopped => {
                    return Ok(Heard::Told(Told::Nothing));
                }
                Err(RecvTimeoutError::Disconnected) => return ended(&mut worker),
            };
            if stops && !is_stopped {
                is_stopped = true;
                worker.interrupt();
            }
        }
    }

    fn order(&self, index: usize) -> Order {
        Order {
            name: self.trace.program.clone(),
            algorithm: self.options.algorithm.name().to_owned(),
            max_events: self.options.max_events,
            interleaves_plain: self.trace.interleaves_plain,
            verify: Some(Verify {
                prefers_few_waiting: self.options.prefer == Prefer::FewWaiting,
                inputs: self.assignments.values(index).clone(),
                most_constraints: self.most_constraints(),
            }),
            ..Order::default()
        }
    }

    fn start(
        &self,
        program: &NativeProgram,
        index: usize,
        order: &Order,
    ) -> Result<Worker, Refusal> {
        let mut arguments = vec![program.path().as_os_str().to_owned()];
        let filled = with_inputs(&self.trace.arguments, self.assignments.values(index));
        arguments.extend(filled.into_iter().map(OsString::from));
        Worker::start(program.path(), &arguments, order).map_err(|error| Refusal::System {
            what: "start the program",
            error,
        })
    }
}

fn ended(worker: &mut Worker) -> Result<Heard, Refusal> {
    let status = worker.wait().map_err(|error| Refusal::System {
        what: "wait for the program",
        error,
    })?;
    Ok(Heard::Nothing(ending(status)))
}
