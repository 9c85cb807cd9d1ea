//! What happened: an execution in columns, with happens-before as vector clocks and its races.
//!
//! Happens-before (→) is the transitive closure of the order of dependent events and of the *after*
//! edges that no schedule can turn round. Races are found once, when their second event is pushed.

mod clock;
mod id;
mod op;

pub use id::{EventId, ObjectId, ThreadId, Token};
pub(crate) use op::access_at;
pub use op::{Access, Op, OpKind, Request, Schedule, Step};

use crate::program::Performed;
use clock::Clocks;
use serde::{Deserialize, Serialize};

/// A performed operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Event {
    /// Who performed it, and which alternative.
    pub step: Step,
    /// Its number among the events of its thread, from 1.
    pub index: u32,
    /// In how many ways it could have been performed.
    pub alternatives: u32,
    /// The operation with the access it had.
    pub op: Op,
    /// The value that makes a conditional operation a write.
    pub expects: Option<Token>,
    /// The value of the object before.
    pub before: Token,
    /// The value of the object after.
    pub after: Token,
    /// The access of the same object before this one.
    previous_access: Option<EventId>,
    /// The write of the same object before this one.
    previous_write: Option<EventId>,
    /// End of its after edges in the column of edges.
    edges_end: u32,
}

impl Event {
    /// Who performed it.
    pub fn thread(&self) -> ThreadId {
        self.step.thread
    }

    /// κ(op, v): the access that it has where its object holds `value`.
    pub fn access_at(&self, value: Token) -> Access {
        access_at(self.op.access, self.expects, value)
    }
}

/// Two conflicting events with nothing between them: another schedule turns them round.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Race {
    /// The event that came first.
    pub first: EventId,
    /// The event that came second.
    pub second: EventId,
}

/// A sequence of events with their happens-before, and the races among them.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub struct Execution {
    events: Vec<Event>,
    clocks: Clocks,
    /// After edges of all events, in the order of the events.
    edges: Vec<EventId>,
    /// Sorted by `second`.
    races: Vec<Race>,
    /// positions[t][i] is the event of thread t with index i + 1.
    positions: Vec<Vec<EventId>>,
    /// Indexed by object: its last access.
    last_access: Vec<Option<EventId>>,
}

/// The end of an execution, cut off in order to be put back.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub(crate) struct Tail {
    events: Vec<Event>,
    clocks: Vec<u32>,
    stride: usize,
    edges: Vec<EventId>,
    races: Vec<Race>,
}

impl Execution {
    /// Number of events.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether nothing happened.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The event.
    pub fn event(&self, id: EventId) -> &Event {
        &self.events[id.index()]
    }

    /// The events in order.
    pub fn events(&self) -> impl DoubleEndedIterator<Item = (EventId, &Event)> + ExactSizeIterator {
        self.events.iter().enumerate().map(|(position, event)| (EventId::at(position), event))
    }

    /// The steps that lead here.
    pub fn schedule(&self) -> Schedule {
        self.events.iter().map(|event| event.step).collect()
    }

    /// The thread that moved last.
    pub fn last_thread(&self) -> Option<ThreadId> {
        self.events.last().map(Event::thread)
    }

    /// The last event of the thread.
    pub fn last_of(&self, thread: ThreadId) -> Option<EventId> {
        self.positions.get(thread.index())?.last().copied()
    }

    /// a → b or a = b.
    pub fn happens_before(&self, a: EventId, b: EventId) -> bool {
        let event = self.event(a);
        self.knows(b, event.thread(), event.index)
    }

    /// Whether the event of `thread` with this index is `event` or happens before it.
    pub(crate) fn knows(&self, event: EventId, thread: ThreadId, index: u32) -> bool {
        self.clocks.at(event, thread) >= index
    }

    /// The races, sorted by their second event.
    pub fn races(&self) -> &[Race] {
        &self.races
    }

    /// The races whose second event is at `position` or later.
    pub fn races_from(&self, position: usize) -> &[Race] {
        let start = self.races.partition_point(|race| race.second.index() < position);
        &self.races[start..]
    }

    /// The after edges of an event.
    pub fn edges(&self, id: EventId) -> &[EventId] {
        let start = match id.index() {
            0 => 0,
            position => self.events[position - 1].edges_end as usize,
        };
        &self.edges[start..self.event(id).edges_end as usize]
    }

    /// Appends what was performed; finds the races in which it comes second.
    pub fn push(&mut self, step: Step, request: &Request, performed: &Performed<'_>) {
        let id = EventId::at(self.events.len());
        let thread = step.thread;
        let op = performed.op;
        self.make_room(thread);
        let own = &mut self.positions[thread.index()];
        let index = own.len() as u32 + 1;
        self.clocks.push(own.last().copied());
        own.push(id);
        for &edge in performed.edges {
            self.clocks.join(edge);
        }
        self.edges.extend_from_slice(performed.edges);

        let previous_access = self.previous_access(op);
        let previous_write = previous_access.and_then(|previous| self.write_until(previous));
        match op.access {
            Access::None => {}
            Access::Read => self.follow(previous_write, id),
            Access::Write => {
                let mut reads = previous_access;
                while reads != previous_write {
                    self.follow(reads, id);
                    reads = reads.and_then(|read| self.event(read).previous_access);
                }
                if previous_access == previous_write {
                    self.follow(previous_write, id);
                }
            }
        }
        self.clocks.set(id, thread, index);
        if op.is_access() {
            self.set_last_access(op.object, Some(id));
        }
        self.events.push(Event {
            step,
            index,
            alternatives: request.alternatives,
            op,
            expects: request.expects,
            before: performed.before,
            after: performed.after,
            previous_access,
            previous_write,
            edges_end: self.edges.len() as u32,
        });
    }

    /// Orders the event that is being pushed after the conflicting event `first`; they race if
    /// nothing that was joined so far does so already.
    fn follow(&mut self, first: Option<EventId>, second: EventId) {
        let Some(first) = first else { return };
        if !self.happens_before(first, second) {
            self.races.push(Race { first, second });
            self.clocks.join(first);
        }
    }

    /// The last access of the object before an operation that is about to be pushed.
    fn previous_access(&self, op: Op) -> Option<EventId> {
        if !op.is_access() {
            return None;
        }
        self.last_access.get(op.object.index()).copied().flatten()
    }

    /// The event itself if it is a write, else the last write of its object before it.
    fn write_until(&self, access: EventId) -> Option<EventId> {
        let event = self.event(access);
        match event.op.access {
            Access::Write => Some(access),
            Access::Read | Access::None => event.previous_write,
        }
    }

    fn set_last_access(&mut self, object: ObjectId, access: Option<EventId>) {
        if self.last_access.len() <= object.index() {
            self.last_access.resize(object.index() + 1, None);
        }
        self.last_access[object.index()] = access;
    }

    fn make_room(&mut self, thread: ThreadId) {
        if self.positions.len() <= thread.index() {
            self.positions.resize_with(thread.index() + 1, Vec::new);
            self.clocks.widen(thread.index() + 1);
        }
    }

    /// Forgets all events from position `len` on.
    pub fn truncate(&mut self, len: usize) {
        while self.events.len() > len {
            let event = self.events.pop().expect("the execution is longer than len");
            self.positions[event.thread().index()].pop();
            if event.op.is_access() {
                self.last_access[event.op.object.index()] = event.previous_access;
            }
        }
        self.clocks.truncate(len);
        self.edges.truncate(self.events.last().map_or(0, |event| event.edges_end as usize));
        self.races.truncate(self.races.partition_point(|race| race.second.index() < len));
    }

    /// Cuts off all events from position `len` on and keeps them in `tail`.
    pub(crate) fn split_off(&mut self, len: usize, tail: &mut Tail) {
        let edges = self.events[..len].last().map_or(0, |event| event.edges_end as usize);
        tail.events.clear();
        tail.events.extend_from_slice(&self.events[len..]);
        self.clocks.copy_from(len, &mut tail.clocks);
        tail.stride = self.clocks.stride();
        tail.edges.clear();
        tail.edges.extend_from_slice(&self.edges[edges..]);
        tail.races.clear();
        tail.races.extend_from_slice(self.races_from(len));
        self.truncate(len);
    }

    /// Puts back what `split_off` cut off at this length.
    pub(crate) fn append(&mut self, tail: &Tail) {
        for event in &tail.events {
            let id = EventId::at(self.events.len());
            self.positions[event.thread().index()].push(id);
            if event.op.is_access() {
                self.set_last_access(event.op.object, Some(id));
            }
            self.events.push(*event);
        }
        self.clocks.append(&tail.clocks, tail.stride);
        self.edges.extend_from_slice(&tail.edges);
        self.races.extend_from_slice(&tail.races);
    }

    /// notdep(f, E): the events after `first` and before `until` that do not happen after `first`.
    pub fn notdep(&self, first: EventId, until: usize) -> impl Iterator<Item = EventId> + '_ {
        (first.index() + 1..until)
            .map(EventId::at)
            .filter(move |&event| !self.happens_before(first, event))
    }

    /// The access of the race's second event where it is performed without the first: only a
    /// conditional operation after a write can change its kind.
    pub fn reversed_access(&self, race: Race) -> Access {
        let first = self.event(race.first);
        let second = self.event(race.second);
        match first.op.access {
            Access::Write => second.access_at(first.before),
            Access::Read | Access::None => second.op.access,
        }
    }

    /// Whether an event has no predecessor at `position` or later, except those it knows by
    /// conflict alone (`by_conflict`: by anything).
    pub(crate) fn is_initial_from(&self, event: EventId, position: usize) -> bool {
        let own = self.event(event).thread();
        self.clocks.row(event).iter().enumerate().all(|(thread, &known)| {
            known == 0 || thread == own.index() || {
                self.positions[thread][known as usize - 1].index() < position
            }
        }) && self.is_first_from(event, position)
    }

    /// Whether the thread of the event performed nothing between `position` and the event.
    fn is_first_from(&self, event: EventId, position: usize) -> bool {
        let Event { step, index, .. } = *self.event(event);
        index == 1
            || self.positions[step.thread.index()][index as usize - 2].index() < position
    }

    /// Whether the thread's previous event and the after edges of an event, that is all of its past
    /// except what it conflicts with, lie before `position`.
    pub(crate) fn is_program_ordered_before(&self, event: EventId, position: usize) -> bool {
        self.is_first_from(event, position)
            && self.edges(event).iter().all(|edge| edge.index() < position)
    }

    /// The clock of an event, indexed by thread.
    pub fn clock(&self, event: EventId) -> &[u32] {
        self.clocks.row(event)
    }

    /// Writes po(event) to `clock`: what happens before it by its thread and by after edges.
    pub(crate) fn program_order_clock(&self, event: EventId, clock: &mut Vec<u32>) {
        clock.clear();
        let Event { step, index, .. } = *self.event(event);
        match index {
            1 => clock.resize(self.clocks.stride(), 0),
            _ => clock.extend_from_slice(
                self.clocks.row(self.positions[step.thread.index()][index as usize - 2]),
            ),
        }
        for &edge in self.edges(event) {
            clock::join_into(clock, self.clocks.row(edge));
        }
    }

    /// Joins to `clock` what an access of `object` performed at `position` follows.
    pub(crate) fn join_accesses_before(&self, access: Op, position: EventId, clock: &mut [u32]) {
        let conflicting = self.events[..position.index()]
            .iter()
            .enumerate()
            .rev()
            .filter(|(_, event)| event.op.conflicts_with(access));
        for (id, event) in conflicting {
            clock::join_into(clock, self.clocks.row(EventId::at(id)));
            if event.op.access == Access::Write {
                return;
            }
        }
    }

    /// Number of threads that a clock has room for.
    pub fn width(&self) -> usize {
        self.clocks.stride()
    }
}
