//! Random walk over graphs: each step draws an enabled thread, and then the write that its
//! operation reads from, or the place of its write, among those that leave the graph consistent.

use super::events::{Operation, Shape};
use super::frame::{Added, Written};
use super::memory_model::MemoryModel;
use super::search::GraphSearch;
use crate::execution::{Execution, Performed, Request, ThreadId, ValueId};
use crate::program::{Divergence, Outcome, Pending};
use crate::random::generator::Generator;
use crate::strategy::{Decision, Ending, Strategy};
use serde::{Deserialize, Serialize};

/// An endless sequence of random graphs. Every consistent graph can occur.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GraphWalk {
    seed: u64,
    /// The number of the next execution, from 0. With the seed, it determines the random numbers.
    next: u64,
    generator: Generator,
    /// Holds the current graph and adds events to it. It never has frames.
    search: GraphSearch,
}

impl GraphWalk {
    /// Returns the sequence of walks of a seed.
    pub fn new(memory: MemoryModel, seed: u64) -> GraphWalk {
        GraphWalk {
            seed,
            next: 0,
            generator: Generator::of_execution(seed, 0),
            search: GraphSearch::new(memory),
        }
    }

    /// Draws how the thread's operation is added to the graph.
    fn draw(&mut self, thread: ThreadId, request: &Request) -> Added {
        let operation = Operation::of(request);
        let choice = self.generator.below(request.alternatives as usize) as u32;
        let added = Added {
            choice,
            opens: false,
            ..Added::by(thread)
        };
        let after = self.search.after(thread);
        let last = self.search.graph.object(operation.object).co.len();
        let floor = self.search.floor(&operation, thread, &after);
        match operation.shape {
            Shape::Load | Shape::ReadModifyWrite => {
                let is_free = |&position: &usize| {
                    position == last
                        || self
                            .search
                            .rival_of_source(&operation, thread, &after, position)
                            .is_some_and(|rival| rival.is_none())
                };
                let positions: Vec<usize> = (floor..=last).filter(is_free).collect();
                let position = positions[self.generator.below(positions.len())];
                let rf = self.search.graph.write_at(operation.object, position);
                Added { rf, ..added }
            }
            Shape::Store => {
                let write = Written {
                    operation,
                    thread,
                    after,
                    rf: None,
                    choice,
                    alternatives: request.alternatives,
                    value: ValueId::default(),
                    has_rival: false,
                };
                let mut positions = self.search.positions(&operation, floor);
                positions.retain(|&mut position| {
                    position == last || self.search.may_place(&write, position)
                });
                let position = positions[self.generator.below(positions.len())];
                Added { position, ..added }
            }
            Shape::Fence | Shape::Choice | Shape::Other => added,
        }
    }
}

impl Strategy for GraphWalk {
    fn backtrack(&mut self) -> bool {
        self.search.truncate(0);
        self.generator = Generator::of_execution(self.seed, self.next);
        self.next += 1;
        true
    }

    fn extend(&mut self, pending: &[Pending]) -> Result<Decision, Divergence> {
        let Some((thread, &request)) = self.generator.thread(pending) else {
            return Ok(Decision::Stop(Ending::Maximal));
        };
        let added = self.draw(thread, &request);
        Ok(self.search.run(added, request))
    }

    fn performed(&mut self, performed: &Performed<'_>) {
        self.search.performed(performed);
    }

    fn analyse(&mut self, _outcome: Outcome) {}

    fn skip(&mut self, executions: u64) {
        self.next += executions;
    }

    fn execution(&self) -> &Execution {
        self.search.execution()
    }

    fn is_consistent(&self) -> bool {
        self.search.is_consistent()
    }

    fn coherence(&self, object: crate::execution::ObjectId) -> Vec<crate::execution::EventId> {
        self.search.coherence(object)
    }

    fn save(&self) -> Vec<u8> {
        postcard::to_allocvec(self).expect("a search consists of serializable data")
    }
}
