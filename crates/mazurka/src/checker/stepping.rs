//! Positions in an execution that a person chooses step by step, and the possible next steps.

use super::CheckError;
use super::explaining::reversed;
use super::failures::Symptom;
use super::search::{Search, UntilEnded, diverged};
use explore::{Interrupt, Outcome, Pending, Program, Replay, Schedule, Step, Strategy, ThreadId};
use report::{FailureKind, Offer, Position, Racing, ScheduleFile, Shortfall, Standing, Visit};
use runtime::Trace;

/// The maximum number of alternatives offered for an operation.
const OFFERED: u32 = 32;

/// The failure message in the schedule of an execution that does not fail.
const NO_FAILURE: &str = "no failure: the steps were chosen interactively";

impl Search {
    /// Returns the position that a schedule leads to.
    pub fn position(mut self, saved: &ScheduleFile, visit: &Visit) -> Result<Position, CheckError> {
        let mut schedule = self.operations_of(saved)?;
        if let Some(racing) = visit.reverse {
            let trace = self.traced(&schedule)?;
            schedule = with_reversed(&trace, racing)?;
        }
        if visit.runs_on {
            schedule = self.whole(&schedule)?;
        }
        let trace = self.traced(&schedule)?;
        let columns = trace.columns.iter();
        let pending: Vec<Pending> = columns
            .map(|thread| self.model.pending()[thread.index()])
            .collect();
        let has_failed = trace.outcome == Outcome::Failed;
        let is_over = has_failed || pending.iter().all(|thread| thread.enabled().is_none());
        let failure = trace
            .failure
            .clone()
            .filter(|_| is_over && trace.outcome.is_bug());
        let mut threads = Vec::new();
        for (&thread, pending) in trace.columns.iter().zip(&pending) {
            let alternatives = match pending.enabled() {
                Some(request) if !has_failed => request.alternatives.min(OFFERED),
                Some(_) | None => 0,
            };
            threads.push(Standing {
                thread: self.model.names().spawn_path(thread),
                offers: self.offers(&schedule, thread, alternatives)?,
            });
        }
        let symptom = failure.clone().map_or_else(
            || Symptom {
                kind: FailureKind::Panic,
                message: NO_FAILURE.to_owned(),
                location: None,
            },
            Symptom::of,
        );
        Ok(Position {
            schedule: self.file(&symptom, &schedule),
            execution: trace.interleaving,
            rows: trace.rows,
            failure: failure.map(|shown| Shortfall {
                kind: shown.kind,
                message: shown.message,
                location: shown.location,
            }),
            is_over,
            is_halted: is_over && trace.outcome == Outcome::Halted,
            threads,
        })
    }

    /// Converts the saved schedule to one of operations. From here on, a step is an operation.
    fn operations_of(&mut self, saved: &ScheduleFile) -> Result<Schedule, CheckError> {
        let names = self.model.names_mut();
        let coarse = names.load_coarse(&saved.coarse);
        let schedule = coarse.and_then(|()| names.load(&saved.steps));
        let schedule = schedule.map_err(|error| CheckError::Misfit(error.to_string()))?;
        if !saved.by_accesses {
            self.model.step_by_operations();
            return Ok(schedule);
        }
        loop {
            match self.model.refine(&schedule) {
                Err(Interrupt::Coarsened) => {}
                result => return result.map_err(misfit),
            }
        }
    }

    /// Records the execution of a schedule, all of whose steps must fit.
    fn traced(&mut self, schedule: &Schedule) -> Result<Trace, CheckError> {
        let trace = self.model.trace(schedule).map_err(misfit)?;
        match trace.execution.len() == schedule.len() {
            true => Ok(trace),
            false => Err(CheckError::Misfit(format!(
                "step {} is not possible there",
                trace.execution.len() + 1
            ))),
        }
    }

    /// Extends the schedule to the end of the execution.
    fn whole(&mut self, schedule: &Schedule) -> Result<Schedule, CheckError> {
        loop {
            let mut replay = Replay::new(schedule.clone());
            let mut ended = UntilEnded::default();
            match explore::explore(&mut self.model, &mut replay, &mut ended) {
                Err(Interrupt::Coarsened) => {}
                result => {
                    result.map_err(misfit)?;
                    return Ok(replay.execution().schedule());
                }
            }
        }
    }

    /// Returns the possible next steps of a thread after the schedule. Tries each alternative.
    fn offers(
        &mut self,
        schedule: &Schedule,
        thread: ThreadId,
        alternatives: u32,
    ) -> Result<Vec<Offer>, CheckError> {
        let mut offers = Vec::new();
        for choice in 0..alternatives {
            let mut longer = schedule.clone();
            longer.push(Step::choosing(thread, choice));
            let trace = self.traced(&longer)?;
            let row = trace.rows.last().map(|&row| &trace.interleaving.rows[row]);
            offers.extend(row.map(|row| Offer {
                choice,
                text: row.text.clone(),
                location: row.location.clone(),
            }));
        }
        Ok(offers)
    }
}

/// Converts an interrupt. A person chose the schedule, so a misfit is likelier than nondeterminism.
fn misfit(interrupt: Interrupt) -> CheckError {
    match interrupt {
        Interrupt::Diverged(divergence) => {
            CheckError::Misfit(format!("step {} is not possible there", divergence.at + 1))
        }
        Interrupt::Coarsened | Interrupt::Incomparable | Interrupt::Stopped => diverged(interrupt),
    }
}

/// Returns the beginning of the execution with the second of two racing rows before the first.
fn with_reversed(trace: &Trace, racing: Racing) -> Result<Schedule, CheckError> {
    let mut races = trace.races.iter();
    let rows = |race: &&explore::Race| {
        trace.rows[race.first.index()] == racing.first
            && trace.rows[race.second.index()] == racing.second
    };
    let why = "these two events cannot be reversed: they do not race";
    let race = races.find(rows).ok_or(CheckError::Contradiction(why))?;
    Ok(reversed(&trace.execution, *race))
}
