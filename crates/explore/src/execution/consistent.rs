//! Consistency check of an execution that was read from a file.

use super::clock::Clocks;
use super::{Event, EventId, Execution, ObjectId, Performed};

/// The limit for object ids in a file. No program has this many objects, and a table indexed by
/// object fits into memory.
const OBJECTS: usize = 1 << 24;

impl Execution {
    /// Checks whether all derived data matches the events. Clocks, races and positions are computed
    /// again, in no more memory than the execution itself uses.
    pub(crate) fn is_consistent(&self) -> bool {
        let mut again = match self.is_weak {
            true => Execution::weak(),
            false => Execution::default(),
        };
        if let Some(threads) = self.positions.len().checked_sub(1) {
            again.positions.resize_with(threads + 1, Vec::new);
            if !self.is_weak {
                again.clocks.widen(threads + 1);
            }
        }
        let has_room = match self.is_weak {
            true => self.clocks == Clocks::default(),
            false => {
                self.clocks.has_rows(self.events.len())
                    && self.clocks.stride() == again.clocks.stride()
            }
        };
        has_room
            && self
                .events
                .iter()
                .all(|event| self.repeats(event, &mut again))
            && again.clocks == self.clocks
            && again.edges == self.edges
            && again.next_edges == self.next_edges
            && again.races == self.races
            && again.positions == self.positions
            && again
                .last
                .iter()
                .zip(&self.last)
                .all(|(one, other)| one == other)
            && self
                .last
                .iter()
                .skip(again.last.len())
                .all(|last| last.access.is_none() && last.write.is_none())
    }

    /// Performs an event again and checks whether the result is the same.
    fn repeats(&self, event: &Event, again: &mut Execution) -> bool {
        let position = again.events.len();
        let known = |id: EventId| id.index() < position;
        let edges = self.edges.get(again.edges.len()..event.edges_end as usize);
        let next_edges = self
            .next_edges
            .get(again.next_edges.len()..event.next_edges_end as usize);
        let (Some(edges), Some(next_edges)) = (edges, next_edges) else {
            return false;
        };
        let object = event.op.object.index();
        let is_known = event.thread().index() < self.positions.len()
            && match event.op.is_access() {
                true if self.is_weak => object < OBJECTS,
                true => object < self.last.len(),
                false => event.op.object == ObjectId::NONE || object < OBJECTS,
            }
            && event.step.choice < event.alternatives
            && edges.iter().all(|&edge| known(edge))
            && next_edges.iter().all(|&(_, edge)| edge.index() <= position);
        if !is_known {
            return false;
        }
        let request = crate::Request {
            expects: event.expects,
            alternatives: event.alternatives,
            yields: event.yields,
            ..crate::Request::plain(event.op)
        };
        let performed = Performed {
            before: event.before,
            after: event.after,
            edges,
            next_edges,
            preempts: event.preempts,
            is_fixed: event.is_fixed,
            ..Performed::of(event.op)
        };
        again.push(event.step, &request, &performed);
        again.events.last() == Some(event)
    }
}
