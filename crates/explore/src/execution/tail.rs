//! Suffixes of executions that are cut off while other suffixes are explored, and then restored.

use super::clock::Lanes;
use super::{Event, EventId, Execution, Race, ThreadId};
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

impl Tail {
    /// Returns the first event of the suffix.
    pub(crate) fn first(&self) -> &Event {
        self.events.first().expect("something was cut off")
    }

    /// Returns the races whose second event is in the suffix.
    pub(crate) fn races(&self) -> &[Race] {
        &self.races
    }

    /// Empties the suffix.
    pub(crate) fn clear(&mut self) {
        self.events.clear();
        self.clocks.clear();
        self.edges.clear();
        self.next_edges.clear();
        self.races.clear();
    }
}

impl Execution {
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
            if event.op.is_access() {
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
