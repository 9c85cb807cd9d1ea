//! The law of the search over execution graphs: under sequential consistency, graphs are traces.

use super::Expected;
use crate::entry::Act;
use crate::machine::Machine;
use crate::program::{Program, Verb};
use explore::{End, GraphSearch, MemoryModel, Observer, Outcome, Strategy, explore};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Operations with an event that only reads its object, at least in some states. Actions of entries
/// need not be listed if the event reads in every state: [`Act::reads`] finds them. A graph orders
/// reads with each other, but a trace does not. So there may be more graphs than traces.
const READS: [Verb; 12] = [
    Verb::ReadLock,
    Verb::TryRead,
    Verb::TryWrite,
    Verb::TryLock,
    Verb::TimedWait,
    Verb::Act(Act::TryAcquire),
    Verb::Get,
    Verb::TrySend,
    Verb::TimedSend,
    Verb::TryReceive,
    Verb::TimedReceive,
    Verb::Ended,
];

/// The executions of a search, by outcome.
#[derive(Default)]
struct Counted {
    outcomes: BTreeMap<Outcome, u64>,
    executions: u64,
    limit: u64,
}

impl Observer for Counted {
    fn ended(&mut self, outcome: Outcome, _: &dyn Strategy) -> ControlFlow<()> {
        *self.outcomes.entry(outcome).or_default() += 1;
        self.executions += 1;
        match self.executions < self.limit {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    }
}

/// Checks that the search has as many executions of each outcome as there are traces. If the
/// program has operations that read objects, only the set of outcomes must be the same.
pub(super) fn are_traces(program: &Program, expected: &Expected) -> Result<(), String> {
    let mut outcomes: BTreeMap<Outcome, u64> = BTreeMap::new();
    for &outcome in expected.traces.values() {
        *outcomes.entry(outcome).or_default() += 1;
    }
    let mut counted = Counted {
        limit: 50 * expected.traces.len() as u64 + 1000,
        ..Counted::default()
    };
    let mut search = GraphSearch::new(MemoryModel::Sc);
    let end = explore(&mut Machine::new(program), &mut search, &mut counted);
    let end = end.map_err(|interrupt| format!("graphs: {interrupt}"))?;
    let reads = Act::ALL.iter().filter(|act| act.reads());
    let reads: Vec<Verb> = reads.map(|&act| Verb::Act(act)).chain(READS).collect();
    let may_have_more = program.does(&reads);
    let is_right = match may_have_more {
        true => outcomes.keys().eq(counted.outcomes.keys()),
        false => end == End::Exhausted && outcomes == counted.outcomes,
    };
    match is_right {
        true => Ok(()),
        false => Err(format!(
            "graphs: {outcomes:?} traces, {:?} executions",
            counted.outcomes
        )),
    }
}
