//! Context-sensitive DPOR without propagation and with anticipated cuts, the first optimisation of
//! its paper (Albert et al., CAV 2017): an execution that will be redundant is cut at once.
//!
//! **Unsound**; only for reproducing the paper. The rest of the execution is redundant, but
//! contains races whose reversals are not redundant. With `y := y + 1; read x | x := 0; y := 2`,
//! one of two final states is missed.
//!
//! An execution will be redundant if a sequence is reduced to one sleeper whose object no later
//! step accesses. Here, one run shows the later steps; the paper takes them from the program.

use crate::comparing::Comparing;
use crate::execution::Performed;
use crate::execution::{Execution, Step};
use crate::probe::Probe;
use crate::program::{Divergence, Interrupt, Outcome, Pending};
use crate::search::Sleeper;
use crate::strategy::{Decision, Strategy};
use serde::{Deserialize, Serialize};

/// Context-sensitive DPOR that proves nothing.
#[derive(Serialize, Deserialize)]
pub struct PublishedCuts {
    comparing: Comparing,
    /// A step that is performed unless the execution is cut before it.
    #[serde(skip)]
    planned: Option<Step>,
    #[serde(skip)]
    is_doomed: bool,
}

impl PublishedCuts {
    /// Returns a new search.
    pub fn new() -> PublishedCuts {
        PublishedCuts {
            comparing: Comparing::as_published(),
            planned: None,
            is_doomed: false,
        }
    }

    /// Checks whether some sleeper stays asleep until the end of the execution.
    fn has_sleeper_for_good(&self, probe: &mut dyn Probe) -> Result<bool, Interrupt> {
        let schedule = self.execution().schedule();
        for sleeper in self.sleepers() {
            let ahead = probe.ahead(&schedule, sleeper.thread)?;
            if !ahead.iter().any(|op| op.conflicts_with(sleeper.op)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the sleepers of a node that was reached for the first time.
    fn sleepers(&self) -> Vec<Sleeper> {
        let search = self.comparing.search();
        let is_fresh = search.fresh() < self.execution().len();
        let node = search.path().last().filter(|_| is_fresh);
        node.map_or(Vec::new(), |node| node.ends().collect())
    }
}

impl Default for PublishedCuts {
    fn default() -> PublishedCuts {
        PublishedCuts::new()
    }
}

impl Strategy for PublishedCuts {
    fn backtrack(&mut self) -> bool {
        self.comparing.backtrack()
    }

    fn extend(&mut self, pending: &[Pending]) -> Result<Decision, Divergence> {
        if let Some(step) = self.planned.take() {
            return Ok(match std::mem::take(&mut self.is_doomed) {
                true => self.comparing.cut(),
                false => Decision::Run(step),
            });
        }
        let decision = self.comparing.extend(pending)?;
        if let Decision::Run(step) = decision
            && !self.sleepers().is_empty()
        {
            self.planned = Some(step);
            return Ok(Decision::Probe);
        }
        Ok(decision)
    }

    fn performed(&mut self, performed: &Performed<'_>) {
        self.comparing.performed(performed);
    }

    fn probe(&mut self, probe: &mut dyn Probe) -> Result<(), Interrupt> {
        match self.planned {
            Some(_) => self.is_doomed = self.has_sleeper_for_good(probe)?,
            None => self.comparing.probe(probe)?,
        }
        Ok(())
    }

    fn analyse(&mut self, outcome: Outcome) {
        self.comparing.analyse(outcome);
    }

    fn execution(&self) -> &Execution {
        self.comparing.execution()
    }

    fn estimate(&self) -> Option<f64> {
        self.comparing.estimate()
    }

    fn save(&self) -> Vec<u8> {
        postcard::to_allocvec(self).expect("a search consists of serialisable data")
    }
}
