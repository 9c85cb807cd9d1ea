//! The verification of a program in machine code: by a process of its own for each assignment of inputs.

use super::{Verification, with_inputs};
use crate::arguments::Prefer;
use crate::refusal::Refusal;
use crate::subject::NativeProgram;
use native::{Answer, Order, Verify, Worker, ending};
use report::{Input, Report};
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

impl Verification<'_> {
    /// Verifies for one assignment, and publishes what is verified.
    pub fn of_assignment(
        &mut self,
        program: &NativeProgram,
        index: usize,
    ) -> Result<Told, Refusal> {
        let mut worker = self.start(program, index)?;
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
                Ok(Answer::Report(report)) => return Ok(Told::Report(report)),
                Ok(Answer::Asked(input)) => return Ok(Told::Asked(input)),
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
                Err(RecvTimeoutError::Disconnected) if is_stopped => return Ok(Told::Nothing),
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended(worker)),
            };
            if stops && !is_stopped {
                is_stopped = true;
                worker.interrupt();
            }
        }
    }

    fn start(&self, program: &NativeProgram, index: usize) -> Result<Worker, Refusal> {
        let inputs = self.assignments.values(index);
        let order = Order {
            name: self.trace.program.clone(),
            algorithm: self.options.algorithm.name().to_owned(),
            max_events: self.options.max_events,
            interleaves_plain: self.trace.interleaves_plain,
            verify: Some(Verify {
                prefers_few_waiting: self.options.prefer == Prefer::FewWaiting,
                inputs: inputs.clone(),
                most_constraints: self.most_constraints(),
            }),
            ..Order::default()
        };
        let mut arguments = vec![program.path().as_os_str().to_owned()];
        let filled = with_inputs(&self.trace.arguments, inputs);
        arguments.extend(filled.into_iter().map(OsString::from));
        Worker::start(program.path(), &arguments, &order).map_err(|error| Refusal::System {
            what: "start the program",
            error,
        })
    }

    fn ended(&self, mut worker: Worker) -> Refusal {
        match worker.wait() {
            Ok(status) => Refusal::WorkerEnded {
                program: self.trace.program.clone(),
                ended: ending(status),
            },
            Err(error) => Refusal::System {
                what: "wait for the program",
                error,
            },
        }
    }
}
