//! The events of a graph, with reads-from (rf) and coherence order (co).

use super::clocks::Clocks;
use crate::execution::{
    Access, EventId, MemoryOrder, ObjectId, OpKind, Request, ThreadId, ValueId,
};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::ops::Deref;

/// Synchronization edges to an event.
pub(super) type Edges = SmallVec<[At; 2]>;

/// The id of an event: its thread, and its number in the thread, from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(super) struct At {
    pub(super) thread: ThreadId,
    pub(super) index: u32,
}

/// What an operation does to its object.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Shape {
    Load,
    Store,
    /// Reads and writes atomically. Every access with [`MemoryOrder::Object`] has this shape, so
    /// that all of these accesses are in one order.
    ReadModifyWrite,
    Fence,
    Choice,
    /// Spawns, waits, and other operations without an access.
    Other,
}

impl Shape {
    pub(super) fn of(request: &Request) -> Shape {
        let is_of_object = request.order == MemoryOrder::Object;
        match (request.op.kind, request.op.access) {
            (OpKind::Load, Access::Read) if !is_of_object => Shape::Load,
            // A compare-exchange that fails spuriously.
            (OpKind::CompareExchange, Access::Read) if request.expects.is_none() => Shape::Load,
            (OpKind::Store, Access::Write) if !is_of_object => Shape::Store,
            (OpKind::Fence, _) => Shape::Fence,
            (OpKind::Choose, _) => Shape::Choice,
            (_, Access::None) if request.alternatives > 1 => Shape::Choice,
            (_, Access::None) => Shape::Other,
            (_, Access::Read | Access::Write) => Shape::ReadModifyWrite,
        }
    }
}

/// The part of an operation that an event performs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Part {
    Read,
    Write,
    Other,
}

/// The properties of an operation that its announcement determines.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Operation {
    pub(super) shape: Shape,
    pub(super) object: ObjectId,
    pub(super) order: MemoryOrder,
    pub(super) on_failure: MemoryOrder,
    /// The value that a compare-exchange must find in order to write.
    pub(super) expects: Option<ValueId>,
    /// Whether the write continues the release sequence of its thread.
    pub(super) continues: bool,
}

impl Operation {
    pub(super) fn of(request: &Request) -> Operation {
        let shape = Shape::of(request);
        let is_atomic = matches!(
            request.op.kind,
            OpKind::Load
                | OpKind::Store
                | OpKind::ReadModifyWrite
                | OpKind::CompareExchange
                | OpKind::Fence
        );
        let order = |order| match is_atomic {
            true => order,
            false => MemoryOrder::Object,
        };
        Operation {
            shape,
            object: request.op.object,
            order: order(match (shape, request.op.kind) {
                (Shape::Load, OpKind::CompareExchange) => request.on_failure,
                _ => request.order,
            }),
            on_failure: order(request.on_failure),
            expects: request.expects,
            continues: request.continues,
        }
    }

    /// Checks whether a read-modify-write that reads this value writes.
    pub(super) fn writes(&self, value: ValueId) -> bool {
        self.shape == Shape::ReadModifyWrite
            && self.expects.is_none_or(|expected| expected == value)
    }
}

/// The properties of an event of a graph.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Node {
    pub(super) operation: Operation,
    pub(super) part: Part,
    /// The ordering that applies to this part.
    pub(super) order: MemoryOrder,
    /// Whether the event is a part of a read-modify-write that writes.
    pub(super) is_rmw: bool,
    /// The position in the order in which events were added. A revisited read keeps its stamp.
    pub(super) stamp: u64,
    /// The write that a read reads from. `None` stands for the initial value.
    pub(super) rf: Option<At>,
    /// The alternative of a choice, or of the operation of a write.
    pub(super) choice: u32,
    /// The value that a write has written.
    pub(super) value: ValueId,
    pub(super) after: Edges,
}

impl Node {
    /// Checks whether the event is a sequentially consistent access or fence.
    pub(super) fn is_total(&self) -> bool {
        self.part != Part::Other && self.order.is_total() || self.is_total_fence()
    }

    /// Checks whether the event is a sequentially consistent fence.
    pub(super) fn is_total_fence(&self) -> bool {
        self.operation.shape == Shape::Fence && self.order.is_total()
    }
}

/// An event of a graph.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Event {
    node: Node,
    pub(super) clocks: Clocks,
}

impl Deref for Event {
    type Target = Node;

    fn deref(&self) -> &Node {
        &self.node
    }
}

/// The reads and writes of an object.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub(super) struct Object {
    /// The writes in coherence order. The initial value comes before them.
    pub(super) co: Vec<At>,
    pub(super) reads: Vec<At>,
}

impl Object {
    /// Returns the list that contains the event: the reads, or the writes in coherence order.
    fn order_of(&mut self, node: &Node) -> Option<&mut Vec<At>> {
        match node.part {
            Part::Read => Some(&mut self.reads),
            Part::Write => Some(&mut self.co),
            Part::Other => None,
        }
    }
}

/// A graph that grows event by event.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub(super) struct Graph {
    pub(super) threads: Vec<Vec<Event>>,
    pub(super) objects: Vec<Object>,
    /// The first event of each step, in the order of execution. This order extends po, rf and the
    /// synchronization edges.
    pub(super) steps: Vec<At>,
    /// The number of sequentially consistent accesses and fences.
    pub(super) totals: usize,
    pub(super) next_stamp: u64,
}

impl Graph {
    /// Checks whether all events and objects to which the graph refers are in it.
    pub(super) fn is_closed(&self) -> bool {
        let is_there = |at: &At| {
            let thread = self.threads.get(at.thread.index());
            thread.is_some_and(|nodes| (at.index as usize) < nodes.len())
        };
        let mut nodes = self.threads.iter().flatten();
        let totals = nodes.clone().filter(|node| node.is_total()).count();
        let mut objects = self.objects.iter();
        self.totals == totals
            && self.steps.iter().all(is_there)
            && nodes.all(|node| {
                let object = node.operation.object.index();
                (node.part == Part::Other || object < self.objects.len())
                    && node.rf.iter().chain(&node.after).all(is_there)
            })
            && objects.all(|object| object.co.iter().chain(&object.reads).all(is_there))
    }
}

impl Graph {
    pub(super) fn node(&self, at: At) -> &Event {
        &self.threads[at.thread.index()][at.index as usize]
    }

    pub(super) fn next_of(&self, thread: ThreadId) -> At {
        let index = self.threads.get(thread.index()).map_or(0, Vec::len) as u32;
        At { thread, index }
    }

    pub(super) fn object(&self, object: ObjectId) -> &Object {
        static NONE: Object = Object {
            co: Vec::new(),
            reads: Vec::new(),
        };
        self.objects.get(object.index()).unwrap_or(&NONE)
    }

    /// Returns all events, thread by thread.
    pub(super) fn all(&self) -> impl Iterator<Item = (At, &Event)> + '_ {
        let threads = self.threads.iter().enumerate();
        threads.flat_map(|(thread, nodes)| {
            let thread = ThreadId::from_index(thread);
            let nodes = nodes.iter().enumerate();
            nodes.map(move |(index, node)| {
                let index = index as u32;
                (At { thread, index }, node)
            })
        })
    }

    /// Returns the position of a write in coherence order, from 1. The initial value has 0.
    pub(super) fn position(&self, object: ObjectId, write: Option<At>) -> usize {
        let Some(write) = write else {
            return 0;
        };
        let co = &self.object(object).co;
        let found = co.iter().rposition(|&own| own == write);
        found.expect("a write that is read is in coherence order") + 1
    }

    /// Returns the write at a position of the coherence order, or `None` at position 0 (the initial
    /// value).
    pub(super) fn write_at(&self, object: ObjectId, position: usize) -> Option<At> {
        Some(self.object(object).co[position.checked_sub(1)?])
    }

    /// Returns a read-modify-write that reads from this write and itself writes, other than
    /// `except`, if there is one.
    pub(super) fn rmw_of(
        &self,
        object: ObjectId,
        write: Option<At>,
        except: Option<At>,
    ) -> Option<At> {
        let mut reads = self.object(object).reads.iter();
        let is_rmw = |&&read: &&At| {
            let node = self.node(read);
            node.is_rmw && node.rf == write && Some(read) != except
        };
        reads.find(is_rmw).copied()
    }

    /// Adds an event at the end of its thread, and computes its clocks. A write is not yet in
    /// coherence order.
    #[inline]
    pub(super) fn push(&mut self, thread: ThreadId, node: Node) -> At {
        if self.threads.len() <= thread.index() {
            self.threads.resize_with(thread.index() + 1, Vec::new);
        }
        let at = self.next_of(thread);
        debug_assert!(
            self.threads[thread.index()]
                .last()
                .is_none_or(|last| last.stamp < node.stamp),
            "stamps increase in each thread"
        );
        if node.part == Part::Read {
            self.object_mut(node.operation.object).reads.push(at);
        }
        self.totals += usize::from(node.is_total());
        let clocks = self.clocks_of(at, &node);
        self.threads[thread.index()].push(Event { node, clocks });
        at
    }

    /// Places a write directly after a position of the coherence order.
    pub(super) fn place(&mut self, write: At, position: usize) {
        let object = self.node(write).operation.object;
        self.object_mut(object).co.insert(position, write);
    }

    /// Removes the last event of a thread. Returns it, and its position in the order of the reads
    /// or writes of its object.
    pub(super) fn pop(&mut self, thread: ThreadId) -> (Event, Option<usize>) {
        let position = self.unlink_last(thread);
        let event = self.threads[thread.index()].pop();
        (event.expect("the thread has an event"), position)
    }

    /// Removes the last event of a thread from the order of the reads or writes of its object, and
    /// returns its position there. Returns `None` if the event is in no such order.
    fn unlink_last(&mut self, thread: ThreadId) -> Option<usize> {
        let (event, earlier) = self.threads[thread.index()].split_last()?;
        self.totals -= usize::from(event.is_total());
        let at = At {
            thread,
            index: earlier.len() as u32,
        };
        let own = self.objects.get_mut(event.operation.object.index())?;
        let order = own.order_of(event)?;
        let position = order.iter().rposition(|&own| own == at)?;
        order.remove(position);
        Some(position)
    }

    /// Adds an event that was removed, at its place in the order of the reads or writes of its
    /// object. Returns `None` if the event does not fit.
    pub(super) fn put_back(
        &mut self,
        thread: ThreadId,
        event: Event,
        position: Option<usize>,
    ) -> Option<()> {
        let at = self.next_of(thread);
        if let Some(position) = position {
            let own = self.objects.get_mut(event.operation.object.index())?;
            let order = own.order_of(&event)?;
            if position > order.len() {
                return None;
            }
            order.insert(position, at);
        }
        self.totals += usize::from(event.is_total());
        self.threads.get_mut(thread.index())?.push(event);
        Some(())
    }

    /// Removes all steps from this position on.
    pub(super) fn truncate(&mut self, steps: usize) {
        for position in (steps..self.steps.len()).rev() {
            let At { thread, index } = self.steps[position];
            while self.threads[thread.index()].len() > index as usize {
                self.unlink_last(thread);
                let own = &mut self.threads[thread.index()];
                own.truncate(own.len() - 1);
            }
        }
        self.steps.truncate(steps);
    }

    /// Returns the step of an event.
    pub(super) fn step_of(&self, at: At) -> EventId {
        let found = self
            .steps
            .iter()
            .rposition(|first| first.thread == at.thread && first.index <= at.index);
        EventId::at(found.expect("every event belongs to a step"))
    }

    /// Returns the last event of a step.
    pub(super) fn last_of_step(&self, step: EventId) -> At {
        let first = self.steps[step.index()];
        let node = self.node(first);
        let index = first.index + u32::from(node.is_rmw);
        At { index, ..first }
    }

    fn object_mut(&mut self, object: ObjectId) -> &mut Object {
        if self.objects.len() <= object.index() {
            self.objects
                .resize_with(object.index() + 1, Object::default);
        }
        &mut self.objects[object.index()]
    }
}
