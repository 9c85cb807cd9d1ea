//! Consistency checks of executions that were read from a file.

use super::clock::Clocks;
use super::{Event, EventId, Execution, ObjectId, Performed, ThreadId};

/// The limit for thread ids in a file. No program has this many threads, and a clock fits into
/// memory.
const THREADS: usize = 1 << 14;

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
        if self.positions.len() > THREADS {
            return false;
        }
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
            && again.repeats(&self.events, &self.edges, &self.next_edges, self.last.len())
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

    /// Performs events of a file again, after the events of this execution. `edges` and
    /// `next_edges` are the edges of these events. Returns false if an event is impossible, if its
    /// object is not among the first `objects` (under sequential consistency), or if the data
    /// computed for it differs from the data in the file. The caller compares clocks,
    /// edges, races and positions.
    pub(super) fn repeats(
        &mut self,
        events: &[Event],
        edges: &[EventId],
        next_edges: &[(ThreadId, EventId)],
        objects: usize,
    ) -> bool {
        let (start, next_start) = (self.edges.len(), self.next_edges.len());
        let part = |end: u32, start: usize| (end as usize).checked_sub(start);
        events.iter().all(|event| {
            let own = part(event.edges_end, start)
                .and_then(|end| edges.get(self.edges.len() - start..end));
            let next = part(event.next_edges_end, next_start)
                .and_then(|end| next_edges.get(self.next_edges.len() - next_start..end));
            match (own, next) {
                (Some(own), Some(next)) => self.repeats_one(event, own, next, objects),
                _ => false,
            }
        })
    }

    fn repeats_one(
        &mut self,
        event: &Event,
        edges: &[EventId],
        next_edges: &[(ThreadId, EventId)],
        objects: usize,
    ) -> bool {
        let position = self.events.len();
        let object = event.op.object.index();
        let is_known = event.thread().index() < self.positions.len()
            && match event.op.is_access() {
                true if self.is_weak => object < OBJECTS,
                true => object < objects,
                false => event.op.object == ObjectId::NONE || object < OBJECTS,
            }
            && event.step.choice < event.alternatives
            && edges.iter().all(|&edge| edge.index() < position)
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
        self.push(event.step, &request, &performed);
        self.events.last() == Some(event)
    }
}
