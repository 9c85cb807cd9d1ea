//! Suffixes of executions that are cut off while other suffixes are explored, and then restored.

use super::clock::Lanes;
use super::{Event, EventId, Execution, Race, ReadsFrom, Step, ThreadId};
use serde::{Deserialize, Serialize};

/// The suffix of an execution, cut off to be restored later.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub(crate) struct Tail {
    events: Vec<Event>,
    clocks: Vec<Lanes>,
    stride: usize,
    edges: Vec<EventId>,
    next_edges: Vec<(ThreadId, EventId)>,
    races: Vec<Race>,
}

/// The new positions of the events of an execution when some of them are removed.
pub(crate) struct Renumbering {
    /// The position of the first event that is removed.
    first: usize,
    /// The new position of each event from `first` on, or `None` if the event is removed.
    positions: Vec<Option<EventId>>,
}

impl Renumbering {
    /// Returns the new positions of `len` events. `stays` decides which of them stay.
    pub(crate) fn new(len: usize, stays: impl Fn(usize) -> bool) -> Renumbering {
        let first = (0..len).find(|&position| !stays(position)).unwrap_or(len);
        let mut next = first;
        let new_position = |position| {
            let stays = stays(position);
            next += usize::from(stays);
            stays.then(|| EventId::at(next - 1))
        };
        let positions = (first..len).map(new_position).collect();
        Renumbering { first, positions }
    }

    /// Returns the position of the first event that is removed.
    pub(crate) fn first(&self) -> usize {
        self.first
    }

    /// Returns whether each event from the first removed one on stays.
    pub(crate) fn stays(&self) -> impl DoubleEndedIterator<Item = bool> + ExactSizeIterator + '_ {
        self.positions.iter().map(Option::is_some)
    }

    /// Returns the new position of an event, or `None` if it is removed.
    fn of(&self, event: EventId) -> Option<EventId> {
        match event.index().checked_sub(self.first) {
            Some(offset) => self.positions[offset],
            None => Some(event),
        }
    }

    /// Returns the new position of an event from which a remaining event has an edge or reads.
    fn of_source(&self, event: EventId) -> EventId {
        self.of(event)
            .expect("an event depends only on events that stay")
    }
}

impl Execution {
    /// Removes events of an execution under a weak memory model, and renumbers the edges and
    /// sources (`reads_from`) of the events that stay. None of these may have an edge from a
    /// removed event or read from it. Returns all events from the first removed one on, as they
    /// were.
    pub(crate) fn remove(&mut self, new: &Renumbering) -> Tail {
        debug_assert!(
            self.is_weak,
            "events in the middle are removed only under a weak memory model"
        );
        let mut tail = Tail::default();
        let (start, next_start) = self.ends_of_edges(new.first);
        self.split_off(new.first, &mut tail);
        let (mut edges, mut next_edges) = (0, 0);
        for (event, position) in tail.events.iter().zip(&new.positions) {
            let own = edges..event.edges_end as usize - start;
            let next = next_edges..event.next_edges_end as usize - next_start;
            (edges, next_edges) = (own.end, next.end);
            let Some(id) = *position else {
                continue;
            };
            let own = tail.edges[own].iter();
            self.edges.extend(own.map(|&edge| new.of_source(edge)));
            // An edge from a removed event is dropped: its target does not stay either.
            let next = tail.next_edges[next].iter();
            let next = next.filter_map(|&(thread, edge)| Some((thread, new.of(edge)?)));
            self.next_edges.extend(next);
            self.positions[event.thread().index()].push(id);
            let source = event.step.reads_from;
            let moved = source
                .event()
                .map(|write| ReadsFrom::from(new.of_source(write)));
            self.events.push(Event {
                step: Step {
                    reads_from: moved.unwrap_or(source),
                    ..event.step
                },
                edges_end: self.edges.len() as u32,
                next_edges_end: self.next_edges.len() as u32,
                ..*event
            });
        }
        tail
    }

    /// Undoes `remove`, which removed events from position `len` on.
    pub(crate) fn put_back(&mut self, len: usize, tail: &Tail) {
        self.truncate(len);
        self.append(tail);
    }

    /// Appends, after the first `len` events, a suffix that was read from a file. Unlike `append`,
    /// performs the events of the suffix again. The execution itself must be consistent. Returns
    /// false if the suffix contradicts it, or if the columns of the suffix contradict its events.
    pub(crate) fn restores(&mut self, len: usize, tail: &Tail) -> bool {
        let fits = self
            .clocks
            .fits(tail.events.len(), &tail.clocks, tail.stride);
        if len > self.len() || tail.events.is_empty() || !fits {
            return false;
        }
        self.truncate(len);
        let (edges, next_edges) = (self.edges.len(), self.next_edges.len());
        let races = self.races.len();
        let objects = self.last.len();
        self.repeats(&tail.events, &tail.edges, &tail.next_edges, objects)
            && self.edges[edges..] == tail.edges
            && self.next_edges[next_edges..] == tail.next_edges
            && self.races[races..] == tail.races
            && self.clocks.has_rows_from(len, &tail.clocks, tail.stride)
    }

    /// Cuts off all events from position `len` on and keeps them in `tail`.
    pub(crate) fn split_off(&mut self, len: usize, tail: &mut Tail) {
        let (edges, next_edges) = self.ends_of_edges(len);
        tail.events.clear();
        tail.events.extend_from_slice(&self.events[len..]);
        self.clocks.copy_from(len, &mut tail.clocks);
        tail.stride = self.clocks.stride();
        tail.edges.clear();
        tail.edges.extend_from_slice(&self.edges[edges..]);
        tail.next_edges.clear();
        tail.next_edges
            .extend_from_slice(&self.next_edges[next_edges..]);
        tail.races.clear();
        tail.races.extend_from_slice(self.races_from(len));
        self.truncate(len);
    }

    /// Restores the suffix that `split_off` cut off at this length.
    pub(crate) fn append(&mut self, tail: &Tail) {
        for event in &tail.events {
            let id = EventId::at(self.events.len());
            self.positions[event.thread().index()].push(id);
            if event.op.is_access() && !self.is_weak {
                // The object exists in `last`, because the event was in this execution before.
                self.last[event.op.object.index()] = event.previous.then(id, event.op.access);
            }
            self.events.push(*event);
        }
        self.clocks.append(&tail.clocks, tail.stride);
        self.edges.extend_from_slice(&tail.edges);
        self.next_edges.extend_from_slice(&tail.next_edges);
        self.races.extend_from_slice(&tail.races);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execution::{Access, ObjectId, Op, OpKind, Performed, Request};

    /// Two threads read an object, and then one of them writes it.
    fn execution() -> Execution {
        let mut execution = Execution::default();
        for (thread, access) in [
            (0, Access::Write),
            (1, Access::Read),
            (0, Access::Read),
            (1, Access::Write),
        ] {
            let op = Op {
                kind: OpKind::Store,
                access,
                object: ObjectId(0),
            };
            execution.push(
                Step::of(ThreadId(thread)),
                &Request::plain(op),
                &Performed::of(op),
            );
        }
        execution
    }

    /// Cuts off all events but the first, changes this suffix, and restores it.
    fn is_restored(change: impl FnOnce(&mut Tail)) -> bool {
        let (mut execution, mut tail) = (execution(), Tail::default());
        execution.split_off(1, &mut tail);
        change(&mut tail);
        execution.restores(1, &tail)
    }

    #[test]
    fn only_a_suffix_that_fits_is_restored() {
        assert!(is_restored(|_| ()));
        let changes: [fn(&mut Tail); 11] = [
            |tail| tail.events[1].previous.access = Some(EventId(2)),
            |tail| tail.events[0].index = 2,
            |tail| tail.events[0].step.thread = ThreadId(2),
            |tail| tail.events[0].op.object = ObjectId(1),
            |tail| tail.events[2].edges_end = 1,
            |tail| tail.edges.push(EventId(0)),
            |tail| tail.next_edges.push((ThreadId(0), EventId(1))),
            |tail| tail.races.clear(),
            |tail| tail.clocks[0][0] += 1,
            |tail| tail.stride = 0,
            |tail| tail.events.clear(),
        ];
        for (number, change) in changes.into_iter().enumerate() {
            assert!(!is_restored(change), "{number}");
        }
    }
}
