//! Whether the program is deterministic: the same steps have the same effects.

use super::search::{Search, UntilEnded, symptom_of};
use super::{CheckError, linearisation};
use explore::{
    Divergence, EventId, Execution, Found, Interrupt, Outcome, Pending, Program, Replay, Strategy,
};
use report::Limit;
use runtime::{Beginning, Difference};

impl Search {
    /// Whether there was a data race, so that the program need not do the same after the same steps.
    pub(super) fn contains_a_race(&self) -> bool {
        self.failures.contain_a_race() || self.model.has_suppressed_a_race()
    }

    /// Repeats the first execution when the search is over. State that outlives executions, as in a static of the
    /// standard library, shows in what the program does then. (Native programs are run from their beginning now and then.) Returns
    /// whether the search has started again.
    pub(super) fn repeat_first(&mut self) -> Result<bool, CheckError> {
        let first = self.first.take();
        let is_wanted = !matches!(
            self.halt,
            Some(Limit::Time | Limit::Interrupted | Limit::Race)
        ) && self.settings.native.is_none()
            && !self.contains_a_race();
        let Some((execution, outcome)) = first.filter(|_| is_wanted) else {
            return Ok(false);
        };
        match self.model.repeat(&execution, false) {
            // The others had no event in common with it.
            Err(Interrupt::Diverged(divergence)) if self.is_elsewhere(&divergence) => {
                self.has_diverged = true;
                self.broken_off(Interrupt::Coarsened)
            }
            Err(interrupt) => self.broken_off(interrupt),
            // A failure is repeated for the report.
            Ok(()) if outcome.is_bug() || self.model.outcome() == outcome => Ok(false),
            Ok(()) => Err(CheckError::Outlived),
        }
    }

    /// Runs some executions again in other orders that are equivalent. A difference is what synchronises the threads unseen,
    /// unless the program is not deterministic anyway. Returns whether the search has started again.
    pub(super) fn compare_orders(&mut self, outcome: Outcome) -> Result<bool, CheckError> {
        let is_wanted = outcome == Outcome::Completed
            && (self.earlier + self.tally.complete()).is_power_of_two()
            && self.settings.native.is_none()
            && !self.contains_a_race()
            && !self.model.is_known_to_hide();
        if !is_wanted {
            return Ok(false);
        }
        let threads = self.model.pending().iter();
        if threads.filter(|&&thread| thread != Pending::Unborn).count() < 2 {
            return Ok(false);
        }
        let execution = self.strategy.execution().clone();
        let order = linearisation::reversed(&execution);
        for beginning in [Beginning::Late, Beginning::AtOnce] {
            let run = self
                .model
                .run_reordered(&execution, &order, beginning, outcome);
            match run {
                Err(Interrupt::Coarsened) => return self.broken_off(Interrupt::Coarsened),
                Err(_) | Ok(None) => {}
                Ok(Some(difference)) => {
                    return self.tell_hidden(&execution, &order, difference, outcome);
                }
            }
        }
        Ok(false)
    }

    /// The execution, which ended like this, goes otherwise in this order.
    fn tell_hidden(
        &mut self,
        execution: &Execution,
        order: &[EventId],
        Difference { what, at }: Difference,
        outcome: Outcome,
    ) -> Result<bool, CheckError> {
        // A deadlock need not be one: the execution was left at the difference.
        let has_failed = self.model.outcome() == Outcome::Failed;
        let failure = has_failed.then(|| symptom_of(&self.model).message);
        // Twice, for a program that is not deterministic may do what it did every other time.
        for _ in 0..2 {
            match self.model.repeat(execution, false) {
                Err(Interrupt::Coarsened) => return self.broken_off(Interrupt::Coarsened),
                Ok(()) if self.model.outcome() == outcome => {}
                _ => return Ok(false),
            }
        }
        let failure = failure.map_or(String::new(), |message| format!(" ({message})"));
        self.model.hides(&format!(
            "{what} when events come in another order that the model takes for equivalent{failure}"
        ));
        let steps = order[..at].iter().map(|&event| execution.event(event).step);
        let mut replay = Replay::new(steps.collect());
        let mut ended = UntilEnded::default();
        let result = explore::explore(&mut self.model, &mut replay, &mut ended);
        if result.is_ok() && ended.outcome.is_some_and(Outcome::is_bug) {
            self.sight(replay.execution().schedule());
        }
        Ok(false)
    }

    /// Whether only the first execution differs from the others, perhaps: in it libraries make what they need when they are
    /// used first, and objects may be at other places of the heap for that.
    pub(super) fn may_be_the_first(&self, divergence: &Divergence) -> bool {
        self.is_elsewhere(divergence) && self.tally.complete() <= 1
    }

    /// Whether an object is at another place, for the first time.
    fn is_elsewhere(&self, divergence: &Divergence) -> bool {
        let (Some(expected), Found::Op(found)) = (divergence.expected, &divergence.found) else {
            return false;
        };
        // An object that was at another place had another name, which no other object has.
        let is_elsewhere = expected.kind == found.kind && expected.object.0 < found.object.0;
        is_elsewhere && !self.has_diverged && self.failures.is_empty()
    }
}
