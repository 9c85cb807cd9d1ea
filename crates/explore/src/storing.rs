//! Context-sensitive DPOR that stores states instead of running other orders outside the
//! exploration (Albert et al., CAV 2017). When the search completes a stored sequence and reaches
//! the state to which the other order led, it skips the rest.

use crate::execution::Performed;
use crate::execution::{Execution, Schedule};
use crate::probe::Probe;
use crate::program::{Divergence, Interrupt, Outcome, Pending};
use crate::reduction::{StoredSequence, StoredSequences, reversed};
use crate::search::Search;
use crate::strategy::{Decision, Ending, Strategy};
use serde::{Deserialize, Serialize};

/// Context-sensitive DPOR with stored states.
#[derive(Serialize, Deserialize)]
pub struct Storing {
    search: Search<StoredSequences>,
    /// Whether states with equal digests are computed again and compared.
    is_exact: bool,
    /// How the execution ends once its states have been stored.
    #[serde(skip)]
    ending: Option<Ending>,
    /// Whether the state after the last step was already compared with the stored states.
    #[serde(skip)]
    has_looked: bool,
}

impl Storing {
    /// Returns a new search. `is_exact` says whether states with equal digests are compared, too.
    pub fn new(is_exact: bool) -> Storing {
        Storing {
            search: Search::new(),
            is_exact,
            ending: None,
            has_looked: false,
        }
    }

    /// Returns the sequences that the last step completed.
    fn completed(&self) -> impl Iterator<Item = &StoredSequence> {
        let is_fresh = self.search.path().len() == self.execution().len();
        let node = self.search.path().last().filter(|_| is_fresh);
        let node = node.filter(|node| node.request.alternatives == 1);
        node.into_iter().flat_map(|node| {
            let sequences = node.plan.sequences.iter();
            sequences.filter(|own| own.threads == [node.step.thread])
        })
    }

    /// Skips the rest of the execution if the last step led to a stored state.
    fn look(&mut self, probe: &mut dyn Probe) -> Result<(), Interrupt> {
        self.has_looked = true;
        let here = probe.state()?;
        let same = self.completed().filter(|own| own.digest == here.digest());
        let originals: Vec<Schedule> = same.map(|own| own.original.clone()).collect();
        for original in originals {
            if !self.is_exact || probe.states_along(&original, &[])?[0] == here {
                let node = self.search.path_mut().last_mut();
                node.expect("a node precedes the last step").plan.is_cut = true;
                self.ending = Some(Ending::Blocked);
                return self.store(probe);
            }
        }
        Ok(())
    }

    /// For each new race (f, e), stores v.u at the node before f, with the state after e.
    fn store(&mut self, probe: &mut dyn Probe) -> Result<(), Interrupt> {
        let schedule = self.execution().schedule();
        let fresh = self.search.fresh();
        let states = probe.states_along(&schedule[..fresh], &schedule[fresh..])?;
        for race in self.execution().races_from(fresh).to_vec() {
            let second = race.second.index();
            let Some(steps) = reversed(race, self.execution()) else {
                continue;
            };
            let sequence = StoredSequence {
                threads: steps.iter().map(|step| step.thread).collect(),
                digest: states[second + 1 - fresh].digest(),
                original: schedule[..=second].to_vec(),
            };
            let node = &mut self.search.path_mut()[race.first.index()];
            if !node.is_asleep(steps[0].thread) {
                node.plan.sequences.push(sequence);
            }
        }
        Ok(())
    }
}

impl Strategy for Storing {
    fn backtrack(&mut self) -> bool {
        self.search.backtrack()
    }

    fn extend(&mut self, pending: &[Pending]) -> Result<Decision, Divergence> {
        if let Some(ending) = self.ending.take() {
            return Ok(Decision::Stop(ending));
        }
        let goes_on = pending.iter().any(|thread| thread.enabled().is_some());
        if goes_on && !self.has_looked && self.completed().next().is_some() {
            return Ok(Decision::Probe);
        }
        let decision = self.search.extend(pending)?;
        if let Decision::Stop(ending) = decision {
            self.ending = Some(ending);
            return Ok(Decision::Probe);
        }
        Ok(decision)
    }

    fn performed(&mut self, performed: &Performed<'_>) {
        self.has_looked = false;
        self.search.performed(performed);
    }

    fn probe(&mut self, probe: &mut dyn Probe) -> Result<(), Interrupt> {
        match self.ending {
            Some(_) => self.store(probe),
            None => self.look(probe),
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
        postcard::to_allocvec(self).expect("a search consists of serialisable data")
    }
}
