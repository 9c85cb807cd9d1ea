//! Runs one saved schedule instead of a search.

use super::CheckError;
use super::brake::{Brake, Braked};
use super::search::{Search, UntilEnded, diverged, symptom_of};
use explore::{Interrupt, Replay, Strategy};
use report::{FailureKind, Interleaving, Limit, Report, ScheduleFile};
use runtime::Wanted;

impl Search {
    /// Runs one saved schedule.
    pub fn replay(mut self, saved: &ScheduleFile) -> Result<Report, CheckError> {
        if !saved.by_accesses {
            self.model.step_by_operations();
        }
        let names = self.model.names_mut();
        let coarse = names.load_coarse(&saved.coarse);
        let schedule = coarse.and_then(|()| names.load(&saved.steps));
        let schedule = schedule.map_err(|error| CheckError::Misfit(error.to_string()))?;
        self.model.want_failure(Some(Wanted {
            kind: saved.kind,
            message: saved.message.clone(),
            location: None,
        }));
        let mut ended = UntilEnded::default();
        let execution = loop {
            let mut replay = Replay::new(schedule.clone());
            let mut program = Braked {
                model: &mut self.model,
                brake: &mut Brake::none(),
                trail: self.trail.as_mut(),
                covered: None,
                kept: None,
                is_sampled: false,
            };
            match explore::explore(&mut program, &mut replay, &mut ended) {
                Ok(_) => break replay.execution().clone(),
                Err(Interrupt::Coarsened) => {}
                Err(Interrupt::Diverged(divergence)) => {
                    return Err(CheckError::misfit(&divergence));
                }
                Err(Interrupt::Incomparable) => unreachable!("a replay compares nothing"),
                Err(Interrupt::Stopped) => unreachable!("a replay has no brake"),
            }
        };
        let outcome = ended.outcome.expect("a replay runs one execution");
        self.tally.count(outcome, execution.len());
        if let Some(trail) = &mut self.trail {
            trail.count(&self.tally.counts());
        }
        self.halt = Some(Limit::Replay);
        let mut errors = Vec::new();
        if outcome.is_bug() {
            let symptom = symptom_of(&self.model);
            self.is_raced_for = symptom.kind == FailureKind::DataRace;
            errors.push(self.shown(symptom, 1, execution.schedule())?);
        }
        let mut report = self.report_of(errors);
        self.add_repair(&mut report);
        Ok(report)
    }

    /// Returns the interleaving before the last step of a saved schedule, whose steps are accesses.
    pub fn before_last(mut self, saved: &ScheduleFile) -> Result<Interleaving, CheckError> {
        let mut steps = saved.steps.clone();
        if let Some(last) = steps.last_mut() {
            last.choices.pop();
        }
        steps.retain(|run| !run.choices.is_empty());
        let names = self.model.names_mut();
        let coarse = names.load_coarse(&saved.coarse);
        let schedule = coarse.and_then(|()| names.load(&steps));
        let schedule = schedule.map_err(|error| CheckError::Misfit(error.to_string()))?;
        let operations = loop {
            match self.model.refine(&schedule) {
                Ok(operations) => break operations,
                Err(Interrupt::Coarsened) => {}
                Err(interrupt) => return Err(diverged(interrupt)),
            }
        };
        Ok(self
            .model
            .trace(&operations)
            .map_err(diverged)?
            .interleaving)
    }
}
