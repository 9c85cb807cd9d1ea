//! What happened: an execution in columns, with happens-before as vector clocks and its races.
//!
//! Happens-before (→) is the transitive closure of the order of dependent events and of the *after*
//! edges that no schedule can turn round. Races are found once, when their second event is pushed.

mod clock;
mod id;
mod op;
mod prefix;
mod tail;
mod waiting;

pub use id::{EventId, ObjectId, ThreadId, Token};
pub(crate) use op::access_at;
pub use op::{Access, Op, OpKind, Request, Schedule, Step};
pub use prefix::{Accesses, Constraint, Point};
pub(crate) use tail::Tail;
pub use waiting::Waiting;

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
    /// Whether the thread that moved before it could have gone on.
    pub preempts: bool,
    /// Whether nothing else is to be tried in its place.
    pub is_fixed: bool,
    /// The access of the same object before this one.
    pub(crate) previous_access: Option<EventId>,
    /// The write of the same object before this one.
    pub(crate) previous_write: Option<EventId>,
    /// End of its after edges in the column of edges.
    edges_end: u32,
    /// End of what is known since then in the column of next edges.
    next_edges_end: u32,
}

impl Event {
    /// Who performed it.
    pub fn thread(&self) -> ThreadId {
        self.step.thread
    }

    /// Its thread and its number there.
    pub fn point(&self) -> Point {
        Point {
            thread: self.thread(),
            index: self.index,
        }
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
    /// After edges of what threads perform next, in the order of the events since which they are known.
    next_edges: Vec<(ThreadId, EventId)>,
    /// Sorted by `second`.
    races: Vec<Race>,
    /// positions[t][i] is the event of thread t with index i + 1.
    positions: Vec<Vec<EventId>>,
    /// Indexed by object: its last access.
    last_access: Vec<Option<EventId>>,
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
        self.events
            .iter()
            .enumerate()
            .map(|(position, event)| (EventId::at(position), event))
    }

    /// The events from a position on.
    pub(crate) fn events_from(
        &self,
        position: usize,
    ) -> impl Iterator<Item = (EventId, &Event)> + '_ {
        let events = self.events[position.min(self.len())..].iter().enumerate();
        events.map(move |(offset, event)| (EventId::at(position + offset), event))
    }

    /// The steps that lead here, one by one.
    #[inline]
    pub fn steps(&self) -> impl ExactSizeIterator<Item = &Step> {
        self.events.iter().map(|event| &event.step)
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

    /// The event that a thread performs as its `index`-th.
    pub fn event_at(&self, point: Point) -> Option<EventId> {
        let own = self.positions.get(point.thread.index())?;
        own.get((point.index as usize).checked_sub(1)?).copied()
    }

    /// The event of the same thread before this one.
    fn previous_of(&self, event: EventId) -> Option<EventId> {
        let Point { thread, index } = self.event(event).point();
        let index = index - 1;
        self.event_at(Point { thread, index })
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
        let start = self
            .races
            .partition_point(|race| race.second.index() < position);
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
        if self.positions.len() <= thread.index() {
            self.make_room(thread);
        }
        let own = &mut self.positions[thread.index()];
        let index = own.len() as u32 + 1;
        self.clocks.push(own.last().copied());
        own.push(id);
        for &edge in performed.edges {
            self.clocks.join(edge);
            self.edges.push(edge);
        }

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
        for &next in performed.next_edges {
            self.next_edges.push(next);
        }
        self.clocks.set(id, thread, index);
        if op.is_access() {
            self.set_last_access(op.object, Some(id));
        }
        self.events.push(Event {
            step,
            index,
            alternatives: match performed.is_fixed {
                true => step.choice + 1,
                false => request.alternatives,
            },
            op,
            expects: request.expects,
            before: performed.before,
            after: performed.after,
            preempts: performed.preempts,
            is_fixed: performed.is_fixed,
            previous_access,
            previous_write,
            edges_end: self.edges.len() as u32,
            next_edges_end: self.next_edges.len() as u32,
        });
    }

    /// Orders the event that is being pushed after the conflicting event `first`; they race if
    /// nothing that was joined so far does so already.
    fn follow(&mut self, first: Option<EventId>, second: EventId) {
        let Some(first) = first else { return };
        if !self.happens_before(first, second) {
            if !self.event(first).is_fixed {
                self.races.push(Race { first, second });
            }
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

    #[cold]
    fn make_room(&mut self, thread: ThreadId) {
        self.positions.resize_with(thread.index() + 1, Vec::new);
        self.clocks.widen(thread.index() + 1);
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
        let (edges, next_edges) = self.ends_of_edges(len);
        self.edges.truncate(edges);
        self.next_edges.truncate(next_edges);
        self.races
            .truncate(self.races.partition_point(|race| race.second.index() < len));
    }

    /// Where the columns of edges end after so many events.
    fn ends_of_edges(&self, events: usize) -> (usize, usize) {
        self.events[..events].last().map_or((0, 0), |event| {
            (event.edges_end as usize, event.next_edges_end as usize)
        })
    }

    /// notdep(f, E): the events after `first` and before `until` that do not happen after `first`.
    pub fn notdep(&self, first: EventId, until: usize) -> impl Iterator<Item = EventId> + '_ {
        (first.index() + 1..until)
            .map(EventId::at)
            .filter(move |&event| !self.happens_before(first, event))
    }

    /// Writes to `followers` the events between the race's two that happen before the second, in order.
    pub(crate) fn between(&self, race: Race, followers: &mut Vec<EventId>) {
        let clock = self.clock(race.second);
        let (first, second) = (race.first.index() + 1, race.second.index());
        followers.clear();
        for (offset, event) in self.events[first..second].iter().enumerate() {
            if clock[event.thread().index()] >= event.index {
                followers.push(EventId::at(first + offset));
            }
        }
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

    /// Whether everything that happens before the event lies before `position`.
    pub(crate) fn is_initial_from(&self, event: EventId, position: usize) -> bool {
        let own = self.event(event).thread();
        self.clocks
            .row(event)
            .iter()
            .enumerate()
            .all(|(thread, &known)| {
                known == 0 || thread == own.index() || {
                    self.positions[thread][known as usize - 1].index() < position
                }
            })
            && self.is_first_from(event, position)
    }

    /// Whether the thread of the event performed nothing between `position` and the event.
    fn is_first_from(&self, event: EventId, position: usize) -> bool {
        let Event { step, index, .. } = *self.event(event);
        index == 1 || self.positions[step.thread.index()][index as usize - 2].index() < position
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

    /// Writes to `clock` the clock that the second event of a race has as a read right before the
    /// first: po ⊔ clk(last write of the object).
    pub(crate) fn clock_as_reversed_read(&self, race: Race, clock: &mut Vec<u32>) {
        let Event { step, index, .. } = *self.event(race.second);
        let own = &self.positions[step.thread.index()];
        let previous = (index > 1).then(|| own[index as usize - 2]);
        self.start_clock(clock, previous);
        for &edge in self.edges(race.second) {
            clock::join_into(clock, self.clock(edge));
        }
        if let Some(write) = self.event(race.first).previous_write {
            clock::join_into(clock, self.clock(write));
        }
        clock[step.thread.index()] = index;
    }

    /// Writes to `clock` the clock that a read of `object` by `thread` would have as the next event.
    pub(crate) fn clock_of_next_read(
        &self,
        thread: ThreadId,
        object: ObjectId,
        clock: &mut Vec<u32>,
    ) {
        let previous = self.last_of(thread);
        self.start_clock(clock, previous);
        let known = previous.map_or(0, |previous| self.ends_of_edges(previous.index()).1);
        for &(_, edge) in self.next_edges[known..]
            .iter()
            .filter(|next| next.0 == thread)
        {
            clock::join_into(clock, self.clock(edge));
        }
        let last_access = self.last_access.get(object.index()).copied().flatten();
        if let Some(write) = last_access.and_then(|access| self.write_until(access)) {
            clock::join_into(clock, self.clock(write));
        }
        if clock.len() <= thread.index() {
            clock.resize(thread.index() + 1, 0);
        }
        clock[thread.index()] = self.next_index(thread);
    }

    fn start_clock(&self, clock: &mut Vec<u32>, previous: Option<EventId>) {
        clock.clear();
        match previous {
            Some(previous) => clock.extend_from_slice(self.clock(previous)),
            None => clock.resize(self.clocks.stride(), 0),
        }
    }

    /// The index that the thread's next event will have.
    pub(crate) fn next_index(&self, thread: ThreadId) -> u32 {
        self.positions.get(thread.index()).map_or(0, Vec::len) as u32 + 1
    }
}
