//! The law of symmetry reduction: a search finds each orbit of traces, and an optimal search finds
//! it once.

use crate::machine::Machine;
use crate::oracle::{Oracle, Refusal};
use crate::program::Program;
use crate::trace::Key;
use explore::{
    Algorithm, End, Observer, Options, Outcome, Program as _, Strategy, Symmetric, Symmetry,
    explore,
};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// The algorithms that are combined with symmetry reduction, each with whether it is optimal.
const ALGORITHMS: [(Algorithm, bool); 4] = [
    (Algorithm::Parsimonious, true),
    (Algorithm::Optimal, true),
    (Algorithm::Source, false),
    (Algorithm::Sleep, false),
];

/// The orbits that a search finds.
struct Found<'p> {
    program: &'p Program,
    orbits: BTreeMap<Key, Outcome>,
    executions: u64,
    blocked: u64,
    limit: u64,
}

impl Observer for Found<'_> {
    fn ended(&mut self, outcome: Outcome, strategy: &dyn Strategy) -> ControlFlow<()> {
        if outcome.is_maximal() {
            self.executions += 1;
            // The execution has additional edges, so its events are taken from a new run.
            let mut machine = Machine::new(self.program);
            for &step in strategy.execution().steps() {
                machine.step(step).expect("a machine is never interrupted");
            }
            self.orbits.insert(machine.orbit(), outcome);
        } else {
            self.blocked += 1;
        }
        match self.executions + self.blocked < self.limit {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    }
}

/// Checks the law for a program with at most `states` prefixes. Returns the numbers of traces and
/// orbits, or `None` if the program has more prefixes.
///
/// # Errors
///
/// Returns a description of the violation.
pub fn check(program: &Program, states: usize) -> Result<Option<(usize, usize)>, String> {
    let oracle = match Oracle::with_orbits(program, states) {
        Ok(oracle) => oracle,
        Err(Refusal::TooLarge) => return Ok(None),
        Err(Refusal::Unlawful(what)) => return Err(what),
    };
    for (algorithm, is_optimal) in ALGORITHMS {
        let mut found = Found {
            program,
            orbits: BTreeMap::new(),
            executions: 0,
            blocked: 0,
            limit: 50 * oracle.traces.len() as u64 + 1000,
        };
        let mut machine = Machine::new(program);
        let mut symmetry = Symmetry::default();
        let mut symmetric = Symmetric::new(&mut machine, &mut symmetry);
        let mut strategy = algorithm.strategy(Options::default());
        let end = explore(&mut symmetric, &mut strategy, &mut found);
        let name = algorithm.name();
        match end.map_err(|interrupt| format!("{name}: {interrupt}"))? {
            End::Exhausted => {}
            End::Stopped => return Err(format!("{name}: more than {} executions", found.limit)),
        }
        let Found {
            orbits,
            executions,
            blocked,
            ..
        } = found;
        let all = oracle.orbits.len();
        if orbits != oracle.orbits {
            return Err(format!("{name}: {} of {all} orbits", orbits.len()));
        }
        if is_optimal && (executions, blocked) != (all as u64, 0) {
            return Err(format!(
                "{name}: {executions} executions and {blocked} blocked ones for {all} orbits"
            ));
        }
    }
    Ok(Some((oracle.traces.len(), oracle.orbits.len())))
}
