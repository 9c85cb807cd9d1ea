//! Finds a short failing execution, which is easier to read. After the first failing execution, the
//! search continues for a while. The report shows the execution with the fewest context switches
//! that fails in the same way.
//!
//! The effort is limited by numbers, so that it is reproducible: by [`Checker::extra`], and by the
//! number of executions of the search plus a few. A time limit of the search also ends it. The
//! extra executions are counted separately. Searches that continue after a bug skip this step.
//!
//! [`Checker::extra`]: super::Checker::extra

use super::CheckError;
use super::brake::Braked;
use super::failures::{Sighting, Symptom};
use super::linearization::{switches, with_few_switches};
use super::search::{Search, UntilEnded, diverged, symptom_of};
use explore::{Execution, Interrupt, Outcome, Replay, Strategy};
use report::FailureKind;
use runtime::Model;

/// Executions allowed beyond the number before the failure.
const FEW: u64 = 10;

/// The length of an execution: context switches, then events.
type Length = (usize, usize);

impl Search {
    /// Looks for a shorter execution than the first failing one. Removes the failure if the search
    /// must start again and the failure's schedule no longer shows it.
    pub(super) fn shorten(&mut self) -> Result<(), CheckError> {
        let Some(first) = self.failures.sightings.first().cloned() else {
            return Ok(());
        };
        let budget = self.budget(&first);
        if budget == 0 {
            return Ok(());
        }
        let mut shortest = self.length_of(&first)?;
        while self.extra < budget && self.brake.pulled().is_none() {
            let Some(outcome) = self.extra_execution()? else {
                break;
            };
            self.extra += 1;
            if !outcome.is_bug() || !is_like(&symptom_of(&self.model), &first.symptom) {
                continue;
            }
            let length = length(&self.model, self.strategy.execution());
            if length < shortest {
                shortest = length;
                self.shortest = Some(Sighting {
                    symptom: symptom_of(&self.model),
                    execution: self.tally.runs() + self.extra,
                    schedule: self.strategy.execution().schedule(),
                });
            }
        }
        Ok(())
    }

    /// Returns the number of executions allowed.
    fn budget(&self, first: &Sighting) -> u64 {
        // No extra executions are run in three cases: the search continues after a bug; a thread
        // may block the whole process, which delays each execution (`Misuse`); or under a weak
        // memory model, where the order of the steps says little.
        if self.settings.keeps_going
            || first.symptom.kind == FailureKind::Misuse
            || self.settings.is_weak()
        {
            return 0;
        }
        let runs = self.tally.runs();
        let left = self
            .settings
            .limit()
            .map_or(u64::MAX, |limit| limit.saturating_sub(runs));
        self.settings.extra.min(runs + FEW).min(left)
    }

    /// Runs one more execution. Returns `None` if there is none left or the execution was
    /// interrupted.
    fn extra_execution(&mut self) -> Result<Option<Outcome>, CheckError> {
        let mut ended = UntilEnded::default();
        let mut program = Braked {
            model: &mut self.model,
            brake: &mut self.brake,
            trail: None,
            covered: None,
            kept: None,
            is_sampled: false,
        };
        match explore::explore(&mut program, &mut self.strategy, &mut ended) {
            Ok(_) => Ok(ended.outcome),
            Err(Interrupt::Coarsened) => {
                let tally = self.tally.clone();
                self.shortest = None;
                self.broken_off(Interrupt::Coarsened)?;
                // The report has the numbers of the search that found the failure, unless the
                // search must find the failure again.
                if !self.failures.is_empty() {
                    self.tally = tally;
                }
                Ok(None)
            }
            Err(_) => Ok(None),
        }
    }

    fn length_of(&mut self, sighting: &Sighting) -> Result<Length, CheckError> {
        loop {
            let mut replay = Replay::new(sighting.schedule.clone());
            let mut ended = UntilEnded::default();
            match explore::explore(&mut self.model, &mut replay, &mut ended) {
                // The objects are coarser than the search assumed; the steps are the same.
                Err(Interrupt::Coarsened) => {}
                result => {
                    result.map_err(diverged)?;
                    return Ok(length(&self.model, replay.execution()));
                }
            }
        }
    }
}

/// Checks whether both are the same bug, perhaps with different values.
fn is_like(symptom: &Symptom, first: &Symptom) -> bool {
    symptom.kind == first.kind && symptom.location == first.location
}

/// Returns the length of the current execution when each thread's turns are grouped.
fn length(model: &Model, execution: &Execution) -> Length {
    let failed = model.failure().and_then(|shown| shown.event);
    let grouped = with_few_switches(execution, failed);
    (switches(&grouped), grouped.len())
}
