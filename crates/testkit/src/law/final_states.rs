//! The law of algorithms that compare states.

use super::{Laws, Tally, resumed};
use crate::machine::{Final, Machine};
use crate::random::Random;
use explore::{Algorithm, End, Options, Program as _, Schedule, Step, ThreadId};
use std::collections::BTreeSet;

impl Laws<'_> {
    /// Checks that the search finds every final state and outcome, although it leaves out traces.
    /// At a random point the search is saved and resumed.
    pub(super) fn finds_every_final_state(
        &self,
        algorithm: Algorithm,
        random: &mut Random,
        tally: &mut Tally,
    ) -> Result<(), String> {
        let Some(expected) = &self.expected.finals else {
            tally.unfinished += 1;
            return Ok(());
        };
        let traces = self.expected.traces.len() as u64;
        let mut strategy = algorithm.strategy(Options::default());
        let mut seen = self.seen(random.below(traces + 1) + 1);
        let mut end = self.explore(&mut strategy, &mut seen)?;
        if end == End::Stopped {
            strategy = resumed(algorithm, Options::default(), &strategy.save())?;
            seen.limit = self.effort.redundancy * traces + self.effort.interleavings;
            end = self.explore(&mut strategy, &mut seen)?;
        }
        tally.executions += seen.executions();
        self.are_traces(&seen)?;
        if end == End::Stopped {
            tally.unfinished += 1;
            return Ok(());
        }
        if (seen.traces.len() as u64) < seen.complete {
            return Err("a trace was executed to its end twice".to_owned());
        }
        let schedules = seen.traces.values().map(|(_, schedule)| schedule);
        let found: BTreeSet<Final> = schedules.map(|schedule| self.end_of(schedule)).collect();
        match expected.difference(&found).next() {
            None => Ok(()),
            Some(lost) => Err(format!(
                "{} of {} final states; lost is {lost:?}",
                found.len(),
                expected.len()
            )),
        }
    }

    /// Returns the final values and places of a schedule.
    fn end_of(&self, schedule: &Schedule) -> Final {
        let mut machine = Machine::new(self.program);
        for step in schedule {
            let thread = ThreadId::from_index(self.order[step.thread.index()]);
            machine
                .step(Step { thread, ..*step })
                .expect("a machine is never interrupted");
        }
        machine.end()
    }
}
