//! Context-sensitive DPOR: a search that compares states to find *sleep sequences*, that is,
//! sequences of steps that need not be explored (Albert et al., CAV 2017, Algorithm 1).
//!
//! Deviations: states are compared at the end of an execution, when races are analysed. Runs
//! outside the exploration ([`Probe`]) compute the states after both orders of a race, once for
//! each situation (see [`Commutations`]). For a race (f, e), the sequence contains only those steps
//! between f and e that happen before e. The other steps are not needed to reverse the race, and a
//! shorter sequence is valid in more situations. Sleepers that stay asleep although a dependent
//! step is performed (context-sensitive propagation) go beyond the paper.

use crate::commutation::{Commutations, Window};
use crate::execution::Performed;
use crate::execution::{Execution, Step};
use crate::footprint::Footprint;
use crate::probe::Probe;
use crate::program::{Divergence, Interrupt, Outcome, Pending};
use crate::reduction::ContextSensitive;
use crate::search::{Search, Sleeper};
use crate::strategy::{Decision, Ending, Strategy};
use serde::{Deserialize, Serialize};

/// Context-sensitive DPOR.
#[derive(Serialize, Deserialize)]
pub struct Comparing {
    search: Search<ContextSensitive>,
    /// How the execution ends once its states have been compared.
    #[serde(skip)]
    ending: Option<Ending>,
    /// The next step. It is performed once it is known which sleepers it leaves asleep.
    #[serde(skip)]
    planned: Option<Step>,
    /// footprints[i] is the footprint of event i, if known.
    #[serde(skip)]
    footprints: Vec<Option<Footprint>>,
    #[serde(skip)]
    commutations: Commutations,
}

impl Comparing {
    /// Returns a new search.
    pub fn new() -> Comparing {
        Comparing {
            search: Search::new(),
            ending: None,
            planned: None,
            footprints: Vec::new(),
            commutations: Commutations::default(),
        }
    }

    /// Records the footprint of the planned step, and the sleepers that conflict with the step but
    /// stay asleep.
    fn look_ahead(&mut self, step: Step, probe: &mut dyn Probe) -> Result<(), Interrupt> {
        let footprint = probe.footprint(step.thread);
        self.footprints.resize(self.execution().len(), None);
        self.footprints.push(footprint.clone());
        let node = self.search.path().last().expect("a step is planned there");
        let op = node.request.op;
        let is_dependent = |sleeper: &&Sleeper| sleeper.op.conflicts_with(op);
        if !node.sleep.iter().any(|sleeper| is_dependent(&sleeper)) {
            return Ok(());
        }
        let prefix = self.execution().schedule();
        let stepping = Sleeper {
            thread: step.thread,
            op,
        };
        let dependent = node.sleep.iter().filter(is_dependent);
        let windows: Vec<Window> = dependent
            .map(|&sleeper| {
                let first = (sleeper, probe.footprint(sleeper.thread));
                Window::of_pair([first, (stepping, footprint.clone())])
            })
            .collect();
        let mut kept = Vec::new();
        for window in windows {
            let reversed = self.commutations.reversed(&prefix, &window, probe)?;
            kept.extend(reversed.map(|reversed| reversed[1]));
        }
        let node = self.search.path_mut().last_mut();
        node.expect("a step is planned there").plan.keep(kept);
        Ok(())
    }

    /// For each new race (f, e): if E.v.e.f leads to the same state as E.f.v.e, and no sequence
    /// asleep before f is a prefix of v.e.f, then puts v.e.f to sleep before f. E are the events
    /// before f, and v are the events between f and e that happen before e.
    fn compare(&mut self, probe: &mut dyn Probe) -> Result<(), Interrupt> {
        let schedule = self.execution().schedule();
        let fresh = self.search.fresh();
        if fresh == 0 {
            // Rejects a program that reports no state, even if there is nothing to compare.
            probe.state()?;
        }
        for race in self.execution().races_from(fresh).to_vec() {
            let first = race.first.index();
            let window = Window::of_race(race, self.execution(), &self.footprints);
            let window =
                window.filter(|window| !self.search.path()[first].is_covered(window.reversed()));
            let Some(window) = window else { continue };
            let prefix = &schedule[..first];
            if let Some(reversed) = self.commutations.reversed(prefix, &window, probe)? {
                self.search.path_mut()[first].add_sequence(reversed);
            }
        }
        Ok(())
    }
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
        if let Some(step) = self.planned.take() {
            return Ok(Decision::Run(step));
        }
        match self.search.extend(pending)? {
            Decision::Run(step) => self.planned = Some(step),
            Decision::Stop(ending) => self.ending = Some(ending),
            Decision::Probe => {}
        }
        Ok(Decision::Probe)
    }

    fn performed(&mut self, performed: &Performed<'_>) {
        self.search.performed(performed);
    }

    fn probe(&mut self, probe: &mut dyn Probe) -> Result<(), Interrupt> {
        match self.planned {
            Some(step) => self.look_ahead(step, probe),
            None => self.compare(probe),
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
        postcard::to_allocvec(self).expect("a search consists of serializable data")
    }
}
