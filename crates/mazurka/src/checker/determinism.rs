//! Checks that the program is deterministic: that the same steps have the same effects.

use super::search::{Search, UntilEnded, symptom_of};
use super::{CheckError, linearization};
use explore::{
    Divergence, EventId, Execution, Found, Interrupt, Outcome, Pending, Program, Replay, Step,
    Strategy,
};
use report::Limit;
use runtime::{Beginning, Difference};

impl Search {
    /// Checks whether there was a data race, after which the same steps may have different effects.
    pub(super) fn contains_a_race(&self) -> bool {
        self.failures.contain_a_race() || self.model.has_suppressed_a_race()
    }

    /// Repeats the first execution after the search. State that outlives executions, for example in
    /// a static of the standard library, may lead to a different result. (Native programs are run
    /// from their beginning now and then instead.) Returns whether the search has started again.
    pub(super) fn repeat_first(&mut self) -> Result<bool, CheckError> {
        let first = self.first.take();
        let is_wanted = !matches!(
            self.halt,
            Some(Limit::Time | Limit::Interrupted | Limit::Race)
        ) && self.settings.config.native.is_none()
            && !self.contains_a_race();
        let Some((execution, outcome)) = first.filter(|_| is_wanted) else {
            return Ok(false);
        };
        match self.model.repeat(&execution, false) {
            // No later execution repeated events of the first one, so the difference was not found
            // before.
            Err(Interrupt::Diverged(divergence)) if self.is_elsewhere(&divergence) => {
                self.has_diverged = true;
                self.broken_off(Interrupt::Coarsened)
            }
            Err(interrupt) => self.broken_off(interrupt),
            // A failure is repeated for the report anyway.
            Ok(()) if outcome.is_bug() || self.model.outcome() == outcome => Ok(false),
            Ok(()) => Err(CheckError::Outlived),
        }
    }

    /// Repeats some executions in equivalent orders. A difference shows hidden synchronization
    /// (through objects that Mazurka does not see), unless the program is nondeterministic. Returns
    /// whether the search has started again.
    pub(super) fn compare_orders(&mut self, outcome: Outcome) -> Result<bool, CheckError> {
        let is_wanted = outcome == Outcome::Completed
            && (self.earlier + self.tally.complete()).is_power_of_two()
            && self.settings.config.native.is_none()
            && !self.contains_a_race()
            && !self.model.is_known_to_hide();
        if !is_wanted {
            return Ok(false);
        }
        let threads = self.model.pending().iter();
        if threads
            .filter(|&&thread| thread != Pending::NotStarted)
            .count()
            < 2
        {
            return Ok(false);
        }
        let execution = self.strategy.execution().clone();
        let order = linearization::reversed(&execution, |object| self.strategy.coherence(object));
        for beginning in [Beginning::Late, Beginning::AtOnce] {
            let run = self
                .model
                .run_reordered(&execution, &order, beginning, outcome);
            match run {
                Err(Interrupt::Coarsened) => return self.broken_off(Interrupt::Coarsened),
                Err(_) | Ok(None) => {}
                Ok(Some(difference)) => {
                    return self.report_difference(&execution, &order, difference, outcome);
                }
            }
        }
        Ok(false)
    }

    /// Reports that the execution, which had this outcome, differs when it is run in this order.
    /// Reports nothing if the execution also differs when it is repeated in its own order. Returns
    /// whether the search has started again.
    fn report_difference(
        &mut self,
        execution: &Execution,
        order: &[(EventId, Step)],
        Difference { what, at }: Difference,
        outcome: Outcome,
    ) -> Result<bool, CheckError> {
        // A deadlock may be false, because the execution was abandoned at the difference.
        let has_failed = self.model.outcome() == Outcome::Failed;
        let failure = has_failed.then(|| symptom_of(&self.model).message);
        // This runs twice because the behaviour of a nondeterministic program may alternate.
        for _ in 0..2 {
            match self.model.repeat(execution, false) {
                Err(Interrupt::Coarsened) => return self.broken_off(Interrupt::Coarsened),
                Ok(()) if self.model.outcome() == outcome => {}
                _ => return Ok(false),
            }
        }
        let failure = failure.map_or(String::new(), |message| format!(" ({message})"));
        self.model.hides(&format!(
            "{what} when events run in another order that the model considers equivalent{failure}"
        ));
        // Under a weak memory model, a replay cannot choose sources for further steps.
        if execution.is_weak() {
            return Ok(false);
        }
        let steps = order[..at].iter().map(|&(_, step)| step);
        let mut replay = Replay::new(steps.collect());
        let mut ended = UntilEnded::default();
        let result = explore::explore(&mut self.model, &mut replay, &mut ended);
        if result.is_ok() && ended.outcome.is_some_and(Outcome::is_bug) {
            self.sight(replay.execution().schedule());
        }
        Ok(false)
    }

    /// Checks whether the first execution may be the only one that differs. Libraries allocate data
    /// at their first use, which may move later objects of that execution to other addresses.
    pub(super) fn may_be_the_first(&self, divergence: &Divergence) -> bool {
        self.is_elsewhere(divergence) && self.tally.complete() <= 1
    }

    /// Checks whether the divergence is an object at another address and is the first divergence of
    /// a search without failures.
    fn is_elsewhere(&self, divergence: &Divergence) -> bool {
        let (Some(expected), Found::Op(found)) = (divergence.expected, &divergence.found) else {
            return false;
        };
        // An object at another address has a new name, and therefore a new, larger id.
        let is_elsewhere = expected.kind == found.kind && expected.object.0 < found.object.0;
        is_elsewhere && !self.has_diverged && self.failures.is_empty()
    }
}
