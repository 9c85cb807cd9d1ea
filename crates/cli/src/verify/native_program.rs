//! The verification of a program in machine code: by a process of its own for each assignment of inputs.

use super::{Verification, with_inputs};
use crate::arguments::Prefer;
use crate::guard::{Guard, Heard};
use crate::refusal::Refusal;
use crate::subject::NativeProgram;
use crate::{fatality, terminal};
use native::{Answer, Order, Verify, Worker, ending};
use report::{Input, Report};
use std::ffi::OsString;
use std::process::Command;

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
        let order = self.order(index);
        let worker = self.start(program, index, &order)?;
        let mut guard = Guard::over(worker, order.time_limit);
        // What is verified may be enough before the time is over.
        let mut is_enough = false;
        let ended = loop {
            let answer = match guard.listen(|| is_enough || self.is_over())? {
                Heard::Answer(answer) => answer,
                Heard::Ended(_) if guard.stopping().is_some() => return Ok(Told::Nothing),
                Heard::Ended(ended) => break ended,
                Heard::Killed(limit) => {
                    return Ok(self.killed(guard.unfinished(&order, limit, true)));
                }
            };
            match answer {
                Answer::Verified(case) => is_enough |= self.publish(index, *case)?.is_break(),
                Answer::Report(report) => return Ok(Told::Report(report)),
                Answer::Asked(input) => return Ok(Told::Asked(input)),
                Answer::Refused(reason) => {
                    let program = self.trace.program.clone();
                    return Err(Refusal::Worker { program, reason });
                }
                Answer::Interleaving(_) | Answer::Brought => {}
                Answer::Progress(text) => self.line.say(text),
            }
        };
        if ended.success() {
            return Err(Refusal::ended_by_itself(&self.trace.program));
        }
        let Some(trailed) = guard.trail() else {
            return Err(Refusal::WorkerEnded {
                program: self.trace.program.clone(),
                ended: ending(ended),
            });
        };
        let start = |order: &Order| self.start(program, index, order).ok();
        let report = fatality::examine(&order, trailed, ended, start, &self.interrupted);
        for failure in &report.errors {
            self.exclude(index, &failure.message)?;
        }
        Ok(self.killed(report))
    }

    /// A bug that is known is told. Without one the verification is not over.
    fn killed(&self, report: Report) -> Told {
        if !report.errors.is_empty() {
            return Told::Report(Box::new(report));
        }
        self.line.clear();
        for text in report.bounds.iter().chain(&report.warnings) {
            terminal::complain(text);
        }
        Told::Nothing
    }

    fn order(&self, index: usize) -> Order {
        Order {
            name: self.trace.program.clone(),
            algorithm: self.options.algorithm.name().to_owned(),
            max_events: self.options.max_events,
            interleaves_plain: self.trace.interleaves_plain,
            timeouts: self.options.timeouts,
            accept: self.options.accept.clone(),
            left_out: self.left_out.clone(),
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
        let command = Command::new(program.path());
        Worker::start(command, &arguments, order).map_err(|error| Refusal::System {
            what: "start the program",
            error,
        })
    }
}
