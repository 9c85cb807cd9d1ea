//! Compares the search over execution graphs with axioms of the memory models, on programs of
//! variables, fences and choices.

mod axioms;
mod candidates;
mod graph;
mod relation;
mod suites;

pub use graph::Graph;
pub use suites::{SUITES, Suite};

use crate::machine::Machine;
use crate::program::{Program, Sort};
use crate::random::Random;
use candidates::Model;
use explore::{
    Algorithm, End, GraphSearch, GraphWalk, Interrupt, MemoryModel, Observer, Options, Outcome,
    Strategy, explore,
};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// The memory models, each with whether release sequences are those of C11 and C17.
pub const MODELS: [(MemoryModel, bool); 5] = [
    (MemoryModel::Sc, false),
    (MemoryModel::Tso, false),
    (MemoryModel::Ra, false),
    (MemoryModel::Rc11, false),
    (MemoryModel::Rc11, true),
];

/// The size of one comparison.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Compared {
    /// Consistent graphs.
    pub graphs: u64,
    /// Combinations of runs, sources and orders that the oracle has judged.
    pub candidates: u64,
}

/// The graphs that a search has reached.
struct Reached {
    graphs: BTreeSet<Graph>,
    executions: u64,
    blocked: u64,
    variables: usize,
    limit: u64,
}

impl Reached {
    fn new(program: &Program, limit: u64) -> Reached {
        Reached {
            graphs: BTreeSet::new(),
            executions: 0,
            blocked: 0,
            variables: program.count(Sort::Variable),
            limit,
        }
    }
}

impl Observer for Reached {
    fn ended(&mut self, outcome: Outcome, strategy: &dyn Strategy) -> ControlFlow<()> {
        match outcome.is_maximal() {
            true => self.executions += 1,
            false => self.blocked += 1,
        }
        self.graphs.insert(Graph::of(strategy, self.variables));
        match self.executions + self.blocked < self.limit {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    }
}

/// Compares the search with the axioms on one program. Returns `None` if the program is too large
/// for the oracle.
pub fn check(
    program: &Program,
    memory: MemoryModel,
    is_c11: bool,
    most_candidates: u64,
) -> Result<Option<Compared>, String> {
    let Some(expected) = candidates::consistent(program, Model { memory, is_c11 }, most_candidates)
    else {
        return Ok(None);
    };
    let mut reached = Reached::new(program, 4 * expected.graphs.len() as u64 + 10);
    let mut search = GraphSearch::new(memory);
    let mut machine = Machine::new(program).with_release_sequences(is_c11);
    let end = explore(&mut machine, &mut search, &mut reached)
        .map_err(|interrupt| interrupt.to_string())?;
    if let Some(missing) = expected.graphs.difference(&reached.graphs).next() {
        return Err(format!("a consistent graph is missing: {missing:?}"));
    }
    if let Some(extra) = reached.graphs.difference(&expected.graphs).next() {
        return Err(format!("an inconsistent graph is reached: {extra:?}"));
    }
    if reached.blocked > 0 {
        return Err(format!("{} executions are blocked", reached.blocked));
    }
    let graphs = expected.graphs.len() as u64;
    if end != End::Exhausted || reached.executions != graphs {
        return Err(format!(
            "{} executions reach {graphs} graphs",
            reached.executions
        ));
    }
    walk(program, &mut machine, memory, &reached)?;
    if memory.is_weak() {
        divide(&mut machine, memory, &mut reached)?;
    }
    Ok(Some(Compared {
        graphs,
        candidates: expected.candidates,
    }))
}

/// Checks that random walks reach only graphs in `reached`. If there are few graphs, the walks must
/// reach all of them.
fn walk(
    program: &Program,
    machine: &mut Machine,
    memory: MemoryModel,
    reached: &Reached,
) -> Result<(), String> {
    let few = reached.graphs.len() <= 6;
    let most = if few { 20_000 } else { 20 };
    let mut walked = Reached::new(program, 0);
    let mut search = GraphWalk::new(memory, reached.executions);
    while walked.limit < most && walked.graphs.len() < reached.graphs.len() {
        walked.limit += 20;
        explore(machine, &mut search, &mut walked)
            .map_err(|interrupt| format!("walked: {interrupt}"))?;
    }
    if let Some(extra) = walked.graphs.difference(&reached.graphs).next() {
        return Err(format!("a walk reaches an inconsistent graph: {extra:?}"));
    }
    match reached.graphs.difference(&walked.graphs).next() {
        Some(missing) if few => Err(format!("{most} walks do not reach {missing:?}")),
        Some(_) | None => Ok(()),
    }
}

/// Returns the graphs that satisfy the axioms of the model.
pub fn consistent(program: &Program, memory: MemoryModel, is_c11: bool) -> BTreeSet<Graph> {
    let all = candidates::consistent(program, Model { memory, is_c11 }, u64::MAX);
    all.expect("there is no limit").graphs
}

/// Returns the graphs that the search reaches.
pub fn reached(
    program: &Program,
    memory: MemoryModel,
    is_c11: bool,
) -> Result<BTreeSet<Graph>, Interrupt> {
    let mut reached = Reached::new(program, u64::MAX);
    let mut machine = Machine::new(program).with_release_sequences(is_c11);
    let mut search = GraphSearch::new(memory);
    explore(&mut machine, &mut search, &mut reached)?;
    Ok(reached.graphs)
}

/// Checks that a divided search reaches each graph in `reached` once: parts are given away, and
/// searched in any order.
fn divide(machine: &mut Machine, memory: MemoryModel, reached: &mut Reached) -> Result<(), String> {
    let algorithm = Algorithm::default();
    let options = Options {
        memory,
        ..Options::default()
    };
    let graphs = std::mem::take(&mut reached.graphs);
    let mut random = Random::new(reached.executions);
    reached.executions = 0;
    let mut waiting = vec![algorithm.strategy(options).save()];
    while !waiting.is_empty() {
        let next = waiting.swap_remove(random.index(waiting.len()));
        let search = algorithm.resume(options, &next);
        let mut search = search.map_err(|mistake| mistake.to_string())?;
        reached.limit = reached.executions + 1 + random.below(4);
        let end = explore(machine, &mut search, reached);
        let end = end.map_err(|interrupt| format!("divided: {interrupt}"))?;
        if end == End::Stopped {
            let parts = (0..random.below(3)).map_while(|_| search.give_away());
            waiting.extend(parts.map(|part| part.saved));
            waiting.push(search.save());
        }
        if reached.executions > graphs.len() as u64 {
            break;
        }
    }
    match reached.graphs == graphs && reached.executions == graphs.len() as u64 {
        true => Ok(()),
        false => Err(format!(
            "divided, {} executions reach {} of {} graphs",
            reached.executions,
            reached.graphs.len(),
            graphs.len()
        )),
    }
}
