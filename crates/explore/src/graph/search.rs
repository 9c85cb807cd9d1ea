//! The depth-first search over graphs. It changes one graph in place.

use super::events::{At, Edges, Graph, Node, Operation, Part, Shape};
use super::frame::{Added, Frame, Left, Positions, Removed, Written};
use super::memory_model::MemoryModel;
use crate::execution::{
    Access, EventId, Execution, ObjectId, Performed, ReadsFrom, Request, Step, ThreadId, ValueId,
};
use crate::program::{Divergence, Outcome, Pending, planned};
use crate::strategy::{self, Decision, Ending, Strategy};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The limit for the number of events that are checked in a search from a file. The check of each
/// revisit goes through its whole execution, so all events of the execution count again. No real
/// search reaches the limit: its executions have at most some thousands of events.
const MOST_CHECKED: usize = 1 << 26;

/// A search that reaches every consistent execution graph exactly once.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GraphSearch {
    pub(super) memory: MemoryModel,
    pub(super) graph: Graph,
    /// The steps of the graph, in the order of execution.
    pub(super) execution: Execution,
    /// What is left to explore, from the first point of the execution to the last.
    pub(super) frames: Vec<Frame>,
    /// The steps to perform first, before a thread is chosen.
    pub(super) forced: VecDeque<Added>,
    /// The step that is being performed.
    pub(super) current: Option<(Added, Request)>,
    /// The initial value of each object, where it is known.
    pub(super) initial: Vec<Option<ValueId>>,
    pub(super) has_begun: bool,
}

impl GraphSearch {
    /// Returns a search under a memory model.
    pub fn new(memory: MemoryModel) -> GraphSearch {
        GraphSearch {
            memory,
            graph: Graph::default(),
            execution: Execution::weak(),
            frames: Vec::new(),
            forced: VecDeque::new(),
            current: None,
            initial: Vec::new(),
            has_begun: false,
        }
    }

    /// Returns the synchronization edges to the next event of the thread.
    pub(super) fn after(&self, thread: ThreadId) -> Edges {
        let edges = self.execution.next_edges_of(thread);
        edges.map(|edge| self.graph.last_of_step(edge)).collect()
    }

    /// Returns the value that a read from this write, or from the initial value (`None`), gets.
    fn value(&self, operation: &Operation, rf: Option<At>) -> ValueId {
        let initial = self
            .initial
            .get(operation.object.index())
            .copied()
            .flatten();
        rf.map_or(initial.unwrap_or_default(), |write| {
            self.graph.node(write).value
        })
    }

    /// Adds the read of an operation, and returns it.
    pub(super) fn push_read(
        &mut self,
        operation: &Operation,
        thread: ThreadId,
        after: &[At],
        rf: Option<At>,
        stamp: Option<u64>,
    ) -> At {
        let is_rmw = operation.writes(self.value(operation, rf));
        let order = match (operation.shape, is_rmw) {
            (Shape::ReadModifyWrite, false) => operation.on_failure,
            _ => operation.order,
        };
        let node = Node {
            part: Part::Read,
            order: self.memory.order(order),
            is_rmw,
            rf,
            after: Edges::from_slice(after),
            ..self.node(operation, stamp)
        };
        self.graph.push(thread, node)
    }

    /// Adds the write of an operation, which is not yet in coherence order.
    fn push_write(&mut self, write: &Written) -> At {
        let is_rmw = write.operation.shape == Shape::ReadModifyWrite;
        let node = Node {
            part: Part::Write,
            order: self.memory.order(write.operation.order),
            is_rmw,
            choice: write.choice,
            value: write.value,
            after: if is_rmw {
                Edges::new()
            } else {
                write.after.clone()
            },
            ..self.node(&write.operation, None)
        };
        self.graph.push(write.thread, node)
    }

    #[inline(always)]
    fn node(&mut self, operation: &Operation, stamp: Option<u64>) -> Node {
        self.graph.next_stamp += 1;
        Node {
            operation: *operation,
            part: Part::Other,
            order: self.memory.order(operation.order),
            is_rmw: false,
            stamp: stamp.unwrap_or(self.graph.next_stamp),
            rf: None,
            choice: 0,
            value: ValueId::default(),
            after: Edges::new(),
        }
    }

    /// Adds a step with all events of the write's operation. Returns the write.
    pub(super) fn push_step(&mut self, write: &Written) -> At {
        let first = self.graph.next_of(write.thread);
        self.graph.steps.push(first);
        if write.operation.shape == Shape::ReadModifyWrite {
            self.push_read(&write.operation, write.thread, &write.after, write.rf, None);
        }
        self.push_write(write)
    }

    /// Returns the first position that coherence permits for the thread's next event.
    pub(super) fn floor(&self, operation: &Operation, thread: ThreadId, after: &[At]) -> usize {
        let at = self.graph.next_of(thread);
        let known = self.memory.known(&self.graph, at, after);
        self.graph.floor(operation.object, &known)
    }

    /// Returns the positions after which a store may be placed: no store separates a
    /// read-modify-write from the write that it reads from.
    pub(super) fn positions(&self, operation: &Operation, floor: usize) -> Positions {
        let co = &self.graph.object(operation.object).co;
        let separates = |&position: &usize| {
            co.get(position)
                .is_some_and(|&next| self.graph.node(next).is_rmw)
        };
        (floor..=co.len())
            .filter(|position| !separates(position))
            .collect()
    }

    /// Forgets all steps from this position on.
    pub(super) fn truncate(&mut self, steps: usize) {
        self.graph.truncate(steps);
        self.execution.truncate(steps);
    }
}

impl Strategy for GraphSearch {
    fn backtrack(&mut self) -> bool {
        if !self.has_begun {
            self.has_begun = true;
            return true;
        }
        while !self.frames.is_empty() {
            if self.advance() {
                return true;
            }
        }
        false
    }

    fn returns(&self) -> bool {
        let last = self.frames.last();
        last.is_some_and(|frame| frame.steps == self.execution.len() && frame.remaining() > 0)
    }

    fn extend(&mut self, pending: &[Pending]) -> Result<Decision, Divergence> {
        if let Some(added) = self.forced.pop_front() {
            let at = self.execution.len();
            let request = *planned(at, Step::of(added.thread), pending)?;
            return Ok(self.run(added, request));
        }
        let enabled = pending.iter().enumerate();
        let enabled = enabled
            .filter_map(|(thread, own)| Some((ThreadId::from_index(thread), *own.enabled()?)));
        // Writes are added before reads, so that fewer revisits are needed.
        let Some((thread, request)) = enabled.min_by_key(|&(thread, request)| {
            let rank = match Shape::of(&request) {
                Shape::Fence | Shape::Choice | Shape::Other => 0,
                Shape::Store => 1,
                Shape::ReadModifyWrite => 2,
                Shape::Load => 3,
            };
            (rank, thread)
        }) else {
            return Ok(Decision::Stop(Ending::Maximal));
        };
        let operation = Operation::of(&request);
        let after = self.after(thread);
        let object = self.graph.object(operation.object);
        let last = object.co.len();
        let steps = self.graph.steps.len();
        let mut added = Added {
            position: last,
            ..Added::by(thread)
        };
        match operation.shape {
            Shape::Load | Shape::ReadModifyWrite => {
                added.rf = self.graph.write_at(operation.object, last);
                let floor = self.floor(&operation, thread, &after);
                if floor < last {
                    let positions = (floor..last).collect();
                    let left = Left::Sources {
                        operation,
                        thread,
                        after,
                        positions,
                    };
                    self.frames.push(Frame::new(steps, left));
                }
            }
            Shape::Choice if request.alternatives > 1 => {
                let left = Left::Choices {
                    thread,
                    next: 1,
                    alternatives: request.alternatives,
                };
                self.frames.push(Frame::new(steps, left));
            }
            Shape::Store | Shape::Fence | Shape::Choice | Shape::Other => {}
        }
        Ok(self.run(added, request))
    }

    fn performed(&mut self, performed: &Performed<'_>) {
        let (added, request) = self.current.take().expect("extend has returned a step");
        let operation = Operation::of(&request);
        let thread = added.thread;
        let steps = self.graph.steps.len();
        let mut after: Edges = performed
            .edges
            .iter()
            .map(|&edge| self.graph.last_of_step(edge))
            .collect();
        after.sort_unstable();
        after.dedup();
        if let Some(Frame {
            steps: at,
            left:
                Left::Revisit {
                    write,
                    alternatives,
                    ..
                },
            ..
        }) = self.frames.last_mut()
            && write.has_rival
            && *at == steps
        {
            *alternatives = request.alternatives;
        }
        let first = self.graph.next_of(thread);
        self.graph.steps.push(first);
        let step = self.step(&added, &operation);
        self.learn_initial_value(&operation, performed);
        if let Shape::Fence | Shape::Choice | Shape::Other = operation.shape {
            let node = Node {
                choice: added.choice,
                after,
                ..self.node(&operation, None)
            };
            self.graph.push(thread, node);
            self.execution.push(step, &request, performed);
            return;
        }
        let mut writes = operation.shape == Shape::Store;
        if !writes {
            let read = self.push_read(&operation, thread, &after, added.rf, added.stamp);
            writes = self.graph.node(read).is_rmw;
        }
        if writes {
            let write = Written {
                operation,
                thread,
                after,
                rf: added.rf,
                choice: added.choice,
                alternatives: request.alternatives,
                value: performed.after,
                has_rival: false,
            };
            let opens_positions = added.opens && operation.shape == Shape::Store;
            let mut positions = match opens_positions {
                true => {
                    let floor = self.floor(&operation, thread, &write.after);
                    self.positions(&operation, floor)
                }
                false => Positions::new(),
            };
            let at = self.push_write(&write);
            let position = match operation.shape {
                Shape::Store => added.position,
                _ => self.graph.position(operation.object, added.rf),
            };
            if added.opens {
                positions.retain(|&mut other| other != position);
                let left = Left::Write {
                    write,
                    positions,
                    reads: None,
                };
                self.frames.push(Frame::new(steps, left));
            }
            self.graph.place(at, position);
        }
        self.execution.push(step, &request, performed);
    }

    fn analyse(&mut self, _outcome: Outcome) {}

    fn execution(&self) -> &Execution {
        &self.execution
    }

    fn is_consistent(&self) -> bool {
        let fits = |graph: &Graph, execution: &Execution| {
            graph.steps.len() == execution.len() && graph.is_closed()
        };
        let (threads, objects) = (self.graph.threads.len(), self.graph.objects.len());
        let mut frames = self.frames.iter();
        let (mut graph, mut execution) = (self.graph.clone(), self.execution.clone());
        let mut revisits = self.frames.iter().rev().filter_map(Frame::revisit);
        let mut checked = 0;
        execution.is_weak()
            && execution.is_consistent()
            && fits(&graph, &execution)
            && frames.all(|frame| frame.fits(threads, objects))
            && revisits.all(|(steps, Removed { cut, tail })| {
                checked += execution.len();
                checked <= MOST_CHECKED
                    && cut.first <= steps
                    && execution.restores(cut.first, tail)
                    && {
                        graph.truncate(steps);
                        graph.try_restore(cut.clone()).is_ok() && fits(&graph, &execution)
                    }
            })
    }

    fn estimate(&self) -> Option<f64> {
        Some(self.fraction_done())
    }

    fn give_away(&mut self) -> Option<strategy::Part> {
        self.oldest_part()
    }

    fn coherence(&self, object: ObjectId) -> Vec<EventId> {
        let co = self.graph.object(object).co.iter();
        co.map(|&write| self.graph.step_of(write)).collect()
    }

    fn save(&self) -> Vec<u8> {
        postcard::to_allocvec(self).expect("a search consists of serializable data")
    }
}

impl GraphSearch {
    /// Makes the step the current one, and returns the decision to run it.
    pub(super) fn run(&mut self, added: Added, request: Request) -> Decision {
        let step = self.step(&added, &Operation::of(&request));
        self.current = Some((added, request));
        Decision::Run(step)
    }

    fn step(&self, added: &Added, operation: &Operation) -> Step {
        let source = match operation.shape {
            Shape::Load | Shape::ReadModifyWrite => match added.rf {
                Some(write) => ReadsFrom::from(self.graph.step_of(write)),
                None => ReadsFrom::INITIAL,
            },
            Shape::Store if added.position == self.graph.object(operation.object).co.len() => {
                ReadsFrom::NEWEST
            }
            Shape::Store => ReadsFrom::OVERWRITTEN,
            Shape::Fence | Shape::Choice | Shape::Other => ReadsFrom::LAST,
        };
        Step {
            reads_from: source,
            ..Step::choosing(added.thread, added.choice)
        }
    }

    /// Learns the initial value of an object from the first event that accesses it.
    fn learn_initial_value(&mut self, operation: &Operation, performed: &Performed<'_>) {
        if operation.shape == Shape::Other || performed.op.access == Access::None {
            return;
        }
        let number = operation.object.index();
        if self.initial.len() <= number {
            self.initial.resize(number + 1, None);
        }
        let own = self.graph.object(operation.object);
        if self.initial[number].is_none() && own.co.is_empty() {
            self.initial[number] = Some(performed.before);
        }
    }
}
