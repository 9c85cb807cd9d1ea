//! The verification of a program in machine code, with one process per assignment of inputs.

use super::{Reports, Verification, with_inputs};
use crate::arguments::Prefer;
use crate::guard::{Guard, Received};
use crate::refusal::Refusal;
use crate::subject::NativeProgram;
use crate::{fatality, terminal};
use native::{Answer, Order, Verify, Worker, ending};
use report::{Input, Report};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::panic::resume_unwind;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// How the verification for one assignment ended.
enum Outcome {
    /// It ended with a report.
    Report(Box<Report>),
    /// The program asked for an input that has no value.
    Asked(Input),
    /// The verification was interrupted and found no bug.
    Nothing,
}

/// The verification of all known assignments.
struct Round<'r, 'v> {
    program: &'r NativeProgram,
    state: Mutex<State<'r, 'v>>,
}

struct State<'r, 'v> {
    verification: &'r mut Verification<'v>,
    /// The index of the next assignment to start.
    next: usize,
    reports: BTreeMap<usize, Report>,
    /// A new input that a process has asked for.
    asked: Option<Input>,
    refusal: Option<Refusal>,
    /// Whether the round is over. Then no assignment is started, and verifications in progress
    /// stop.
    is_over: bool,
}

impl Verification<'_> {
    /// Verifies all known assignments and publishes their cases. Also returns a newly found input.
    pub fn of_assignments(
        &mut self,
        program: &NativeProgram,
    ) -> Result<(Reports, Option<Input>), Refusal> {
        let jobs = self.jobs().min(self.assignments.len());
        let round = Round {
            program,
            state: Mutex::new(State {
                verification: self,
                next: 0,
                reports: BTreeMap::new(),
                asked: None,
                refusal: None,
                is_over: false,
            }),
        };
        thread::scope(|scope| {
            let others: Vec<_> = (1..jobs).map(|_| scope.spawn(|| round.work())).collect();
            round.work();
            for other in others {
                other.join().unwrap_or_else(|panic| resume_unwind(panic));
            }
        });
        let state = round.state.into_inner();
        let state = state.unwrap_or_else(PoisonError::into_inner);
        match state.refusal {
            Some(refusal) => Err(refusal),
            None => Ok((state.reports.into_iter().collect(), state.asked)),
        }
    }

    /// Returns the report if the killed process had found a bug. Otherwise prints why the
    /// verification ended.
    fn killed(&self, report: Report) -> Outcome {
        if !report.errors.is_empty() {
            return Outcome::Report(Box::new(report));
        }
        self.line.clear();
        for text in report.bounds.iter().chain(&report.warnings) {
            terminal::complain(text);
        }
        Outcome::Nothing
    }

    fn order(&self, index: usize) -> Order {
        Order {
            name: self.trace.program.clone(),
            algorithm: self.options.algorithm.name().to_owned(),
            conditions: self.options.conditions.all(),
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

    /// Returns the name of the program and its arguments for an assignment.
    fn arguments(&self, program: &NativeProgram, index: usize) -> Vec<OsString> {
        let mut arguments = vec![program.path().as_os_str().to_owned()];
        let filled = with_inputs(&self.trace.arguments, self.assignments.values(index));
        arguments.extend(filled.into_iter().map(OsString::from));
        arguments
    }
}

impl<'r, 'v> Round<'r, 'v> {
    fn state(&self) -> MutexGuard<'_, State<'r, 'v>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Verifies one assignment after another until none is left.
    fn work(&self) {
        loop {
            let begun = self.state().begin();
            let Some(index) = begun else {
                return;
            };
            let outcome = self.of_assignment(index);
            self.state().settle(index, outcome);
        }
    }

    fn of_assignment(&self, index: usize) -> Result<Outcome, Refusal> {
        let (order, arguments) = {
            let verification = &self.state().verification;
            let arguments = verification.arguments(self.program, index);
            (verification.order(index), arguments)
        };
        let start = |order: &Order| {
            let command = Command::new(self.program.path());
            Worker::start(command, &arguments, order)
        };
        let worker = start(&order).map_err(|error| Refusal::System {
            what: "start the program",
            error,
        })?;
        let mut guard = Guard::over(worker, order.time_limit);
        // Enough may be verified before the process ends.
        let mut is_enough = false;
        let ended = loop {
            let received = guard.listen(|| is_enough || self.state().is_over())?;
            let verification = &mut self.state().verification;
            let answer = match received {
                Received::Answer(answer) => answer,
                Received::Ended(_) if guard.stopping().is_some() => return Ok(Outcome::Nothing),
                Received::Ended(ended) => break ended,
                Received::Killed(limit) => {
                    return Ok(verification.killed(guard.unfinished(&order, limit, true)));
                }
            };
            match answer {
                Answer::Verified(case) => {
                    is_enough |= verification.publish(index, *case)?.is_break();
                }
                Answer::Report(report) => return Ok(Outcome::Report(report)),
                Answer::Asked(input) => return Ok(Outcome::Asked(input)),
                Answer::Refused(reason) => {
                    let program = order.name;
                    return Err(Refusal::Worker { program, reason });
                }
                Answer::Interleaving(_) | Answer::Position(_) | Answer::Brought => {}
                Answer::Progress(text) => verification.line.say(text),
            }
        };
        if ended.success() {
            return Err(Refusal::ended_by_itself(&order.name));
        }
        let Some(trailed) = guard.trail() else {
            return Err(Refusal::WorkerEnded {
                program: order.name,
                ended: ending(ended),
            });
        };
        let interrupted = self.state().verification.interrupted.clone();
        let start = |order: &Order| start(order).ok();
        let report = fatality::examine(&order, trailed, ended, start, &interrupted);
        let verification = &mut self.state().verification;
        for failure in &report.errors {
            verification.exclude(index, &failure.message)?;
        }
        Ok(verification.killed(report))
    }
}

impl State<'_, '_> {
    fn is_over(&self) -> bool {
        self.is_over || self.verification.is_over()
    }

    /// Starts the next assignment, if one is left.
    fn begin(&mut self) -> Option<usize> {
        let is_left = self.next < self.verification.assignments.len() && !self.is_over();
        is_left.then(|| {
            self.next += 1;
            self.next - 1
        })
    }

    /// Records the end of an assignment. Without a report the round ends, as after a new input.
    fn settle(&mut self, index: usize, outcome: Result<Outcome, Refusal>) {
        match outcome {
            Ok(Outcome::Report(report)) => {
                self.reports.insert(index, *report);
                return;
            }
            Ok(Outcome::Asked(input)) => _ = self.asked.get_or_insert(input),
            Ok(Outcome::Nothing) => {}
            Err(refusal) => _ = self.refusal.get_or_insert(refusal),
        }
        self.is_over = true;
    }
}
