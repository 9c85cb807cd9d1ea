//! Context-sensitive DPOR: the search whose sleep sequences come from comparing states (Albert et al.,
//! CAV 2017, Algorithm 1).
//!
//! Deviations: states are compared when the execution has ended, as races are analysed. What both orders
//! of a race lead to is found by runs beside the exploration ([`Probe`]); all the states of the
//! execution itself come from one of them. Sleepers that stay asleep though a dependent step is performed
//! (context-sensitive propagation) go beyond the paper.

use crate::execution::{Event, Execution, Step};
use crate::probe::{Probe, Reached};
use crate::program::{Divergence, Interrupt, Outcome, Pending, Performed};
use crate::reduction::{ContextSensitive, turned_round};
use crate::search::{Search, Sleeper};
use crate::strategy::{Decision, Ending, Strategy};
use serde::{Deserialize, Serialize};

/// Context-sensitive DPOR.
#[derive(Serialize, Deserialize)]
pub struct Comparing {
    /// Whether sleepers may stay asleep though a dependent step is performed.
    propagates: bool,
    search: Search<ContextSensitive>,
    /// How the execution ends when its states have been compared.
    #[serde(skip)]
    ending: Option<Ending>,
}

impl Comparing {
    /// A search from the start.
    pub fn new() -> Comparing {
        Comparing {
            propagates: true,
            search: Search::new(),
            ending: None,
        }
    }

    /// The same without propagation.
    pub(crate) fn as_published() -> Comparing {
        Comparing {
            propagates: false,
            ..Comparing::new()
        }
    }

    pub(crate) fn search(&self) -> &Search<ContextSensitive> {
        &self.search
    }

    /// Ends the execution before the step that `extend` asked for last.
    pub(crate) fn cut(&mut self) -> Decision {
        self.search.retract();
        self.ending = Some(Ending::Blocked);
        Decision::Probe
    }

    /// Whether a sleeper is dependent with the step that has just been performed for the first time,
    /// and it is not known whether it stays asleep.
    fn has_question(&self, pending: &[Pending]) -> bool {
        let is_fresh = self.search.path().len() == self.execution().len();
        let (Some(node), Some((_, event))) = (
            self.search.path().last(),
            self.execution().events().next_back(),
        ) else {
            return false;
        };
        self.propagates
            && is_fresh
            && !node.plan.is_settled()
            && node
                .sleep
                .iter()
                .any(|&sleeper| is_dependent(sleeper, event))
            && pending.iter().any(|thread| thread.enabled().is_some())
    }

    /// Which sleepers stay asleep: those that are enabled before and after the last step, such that both
    /// orders lead to the same state.
    fn ask_for_sleepers(&mut self, probe: &mut dyn Probe) -> Result<(), Interrupt> {
        let schedule = self.execution().schedule();
        let (&last, before) = schedule.split_last().expect("a step was performed");
        let node = self.search.path().last().expect("a node precedes it");
        let (_, event) = self
            .execution()
            .events()
            .next_back()
            .expect("it is an event");
        let mut kept = Vec::new();
        for &sleeper in node
            .sleep
            .iter()
            .filter(|&&sleeper| is_dependent(sleeper, event))
        {
            kept.extend(stays_asleep(sleeper, last, before, probe)?);
        }
        let node = self
            .search
            .path_mut()
            .last_mut()
            .expect("a node precedes it");
        node.plan.settle(kept);
        Ok(())
    }

    /// For each fresh race (f, e): if E.v.u leads where the execution led with e, and no sequence that
    /// is asleep before f is a prefix of v.u, then v.u falls asleep there.
    fn compare(&mut self, probe: &mut dyn Probe) -> Result<(), Interrupt> {
        let schedule = self.execution().schedule();
        let fresh = self.search.fresh();
        let states = probe.states_along(&schedule[..fresh], &schedule[fresh..])?;
        for race in self.execution().races_from(fresh).to_vec() {
            let first = race.first.index();
            let Some(steps) = turned_round(race, self.execution()) else {
                continue;
            };
            if self.search.path()[first].is_covered(&steps) {
                continue;
            }
            let Some(reached) = probe.state_after(&schedule[..first], &steps)? else {
                continue;
            };
            let state = &states[race.second.index() + 1 - fresh];
            if reached.state == *state && has_no_alternatives(&reached) {
                let sequence = steps.iter().zip(&reached.requests);
                let sequence = sequence.map(|(step, request)| Sleeper {
                    thread: step.thread,
                    op: request.op,
                });
                self.search.path_mut()[first].add_sequence(sequence.collect());
            }
        }
        Ok(())
    }
}

fn is_dependent(sleeper: Sleeper, event: &Event) -> bool {
    sleeper.thread != event.thread() && sleeper.op.conflicts_with(event.op)
}

fn has_no_alternatives(reached: &Reached) -> bool {
    reached
        .requests
        .iter()
        .all(|request| request.alternatives == 1)
}

/// The sleeper after a step that is dependent with it, if both orders are possible and lead to the same
/// state.
fn stays_asleep(
    sleeper: Sleeper,
    step: Step,
    prefix: &[Step],
    probe: &mut dyn Probe,
) -> Result<Option<Sleeper>, Interrupt> {
    let own = Step::of(sleeper.thread);
    let Some(after) = probe.state_after(prefix, &[step, own])? else {
        return Ok(None);
    };
    let Some(before) = probe.state_after(prefix, &[own, step])? else {
        return Ok(None);
    };
    let is_same =
        after.state == before.state && has_no_alternatives(&after) && has_no_alternatives(&before);
    Ok(is_same.then(|| Sleeper {
        thread: sleeper.thread,
        op: after.requests[1].op,
    }))
}

impl Default for Comparing {
    fn default() -> Comparing {
        Comparing::new()
    }
}

impl Strategy for Comparing {
    fn backtrack(&mut self) -> bool {
        self.search.backtrack()
    }

    fn extend(&mut self, pending: &[Pending]) -> Result<Decision, Divergence> {
        if let Some(ending) = self.ending.take() {
            return Ok(Decision::Stop(ending));
        }
        if self.has_question(pending) {
            return Ok(Decision::Probe);
        }
        let decision = self.search.extend(pending)?;
        if let Decision::Stop(ending) = decision {
            self.ending = Some(ending);
            return Ok(Decision::Probe);
        }
        Ok(decision)
    }

    fn performed(&mut self, performed: Performed<'_>) {
        self.search.performed(performed);
    }

    fn probe(&mut self, probe: &mut dyn Probe) -> Result<(), Interrupt> {
        match self.ending {
            Some(_) => self.compare(probe),
            None => self.ask_for_sleepers(probe),
        }
    }

    fn analyse(&mut self, outcome: Outcome) {
        self.search.analyse(outcome);
    }

    fn execution(&self) -> &Execution {
        self.search.execution()
    }

    fn estimate(&self) -> Option<f64> {
        self.search.estimate()
    }

    fn save(&self) -> Vec<u8> {
        postcard::to_allocvec(self).expect("a search is plain data")
    }
}
