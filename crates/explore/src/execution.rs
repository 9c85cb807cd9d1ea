//! The record of an execution, in columns: events, vector clocks for happens-before, and races.
//!
//! Happens-before (→) is the transitive closure of program order, the order of conflicting events,
//! and synchronization edges. No schedule can reverse a synchronization edge. `push` finds each
//! race once.

mod clock;
mod consistent;
mod id;
mod op;
mod performed;
mod prefix;
mod tail;
mod waiting;

pub use id::{EventId, ObjectId, ThreadId, ValueId};
pub(crate) use op::access_at;
pub use op::{Access, MemoryOrder, Op, OpKind, ReadsFrom, Request, Schedule, Step};
pub use performed::Performed;
pub use prefix::{Accesses, Constraint, Point};
pub(crate) use tail::{Renumbering, Tail};
pub use waiting::Waiting;

use clock::Clocks;
use serde::{Deserialize, Serialize};

/// A performed operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Event {
    /// The thread that performed the event, and the alternative it chose.
    pub step: Step,
    /// The number of the event among the events of its thread, from 1.
    pub index: u32,
    /// The number of alternatives of the operation. If the event is fixed, the alternatives after
    /// the chosen one do not count.
    pub alternatives: u32,
    /// The operation with its actual access.
    pub op: Op,
    /// The value that the object must hold for a conditional operation (compare-exchange) to be a
    /// write.
    pub expects: Option<ValueId>,
    /// The value of the object before the event.
    pub before: ValueId,
    /// The value of the object after the event.
    pub after: ValueId,
    /// Whether the event preempts another thread, which was enabled and had not yielded.
    pub preempts: bool,
    /// Whether the thread of the event yielded right before the event.
    pub yields: bool,
    /// Whether the program ruled out all alternatives to the event ([`Performed::is_fixed`]).
    pub is_fixed: bool,
    /// The last access to the event's object and the last write of it before this event.
    previous: Last,
    /// End of the event's synchronization edges in the column of edges.
    edges_end: u32,
    /// End of the event's entries in the column of next edges.
    next_edges_end: u32,
}

impl Event {
    /// Returns the thread that performed the event.
    pub fn thread(&self) -> ThreadId {
        self.step.thread
    }

    /// Returns the thread and the number of the event in it.
    pub fn point(&self) -> Point {
        Point {
            thread: self.thread(),
            index: self.index,
        }
    }

    /// κ(op, v): returns the access of the event when its object holds `value`.
    pub fn access_at(&self, value: ValueId) -> Access {
        access_at(self.op.access, self.expects, value)
    }
}

/// The last access to an object, and the last write.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
struct Last {
    access: Option<EventId>,
    write: Option<EventId>,
}

impl Last {
    /// Returns the last access and the last write after another event at the object.
    fn then(self, event: EventId, access: Access) -> Last {
        match access {
            Access::None => self,
            Access::Read => Last {
                access: Some(event),
                ..self
            },
            Access::Write => Last {
                access: Some(event),
                write: Some(event),
            },
        }
    }
}

/// Two conflicting events with no event ordered between them: another schedule can reverse them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Race {
    /// The event that came first.
    pub first: EventId,
    /// The event that came second.
    pub second: EventId,
}

/// A sequence of events with happens-before and the races among the events.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub struct Execution {
    events: Vec<Event>,
    clocks: Clocks,
    /// Synchronization edges of all events, in the order of the events.
    edges: Vec<EventId>,
    /// Synchronization edges to the next event of a thread, in the order of the events that
    /// reported the edges.
    next_edges: Vec<(ThreadId, EventId)>,
    /// Sorted by `second`.
    races: Vec<Race>,
    /// positions[t][i] is the event of thread t with index i + 1.
    positions: Vec<Vec<EventId>>,
    /// The last access and the last write of each object, indexed by object. Empty under a weak
    /// memory model.
    last: Vec<Last>,
    /// Whether the memory model is weak. Then reads may be stale, and there are no clocks and no
    /// races.
    is_weak: bool,
}

impl Execution {
    /// Returns an empty execution under a weak memory model. It has neither clocks nor races.
    pub(crate) fn weak() -> Execution {
        Execution {
            is_weak: true,
            ..Execution::default()
        }
    }

    /// Checks whether the memory model is weak. Then the execution has neither clocks nor races.
    pub fn is_weak(&self) -> bool {
        self.is_weak
    }

    /// Returns the number of events.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Checks whether there are no events.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Returns the event with this id.
    pub fn event(&self, id: EventId) -> &Event {
        &self.events[id.index()]
    }

    /// Returns the events in order.
    pub fn events(&self) -> impl DoubleEndedIterator<Item = (EventId, &Event)> + ExactSizeIterator {
        self.events
            .iter()
            .enumerate()
            .map(|(position, event)| (EventId::at(position), event))
    }

    /// Returns the events from a position on.
    pub(crate) fn events_from(
        &self,
        position: usize,
    ) -> impl Iterator<Item = (EventId, &Event)> + '_ {
        let events = self.events[position.min(self.len())..].iter().enumerate();
        events.map(move |(offset, event)| (EventId::at(position + offset), event))
    }

    /// Iterates over the steps of the execution.
    #[inline]
    pub fn steps(&self) -> impl DoubleEndedIterator + ExactSizeIterator<Item = &Step> {
        self.events.iter().map(|event| &event.step)
    }

    /// Returns the steps of the execution as a schedule.
    pub fn schedule(&self) -> Schedule {
        self.events.iter().map(|event| event.step).collect()
    }

    /// Returns the thread of the last event.
    pub fn last_thread(&self) -> Option<ThreadId> {
        self.events.last().map(Event::thread)
    }

    /// Returns the last event of the thread.
    pub fn last_of(&self, thread: ThreadId) -> Option<EventId> {
        self.positions.get(thread.index())?.last().copied()
    }

    /// Returns the event with the given thread and number.
    pub fn event_at(&self, point: Point) -> Option<EventId> {
        let events = self.positions.get(point.thread.index())?;
        events.get((point.index as usize).checked_sub(1)?).copied()
    }

    /// Returns the first event of the thread at this position or later.
    pub(crate) fn first_from(&self, thread: ThreadId, position: usize) -> Option<EventId> {
        let events = self.positions.get(thread.index())?;
        let before = events.partition_point(|event| event.index() < position);
        events.get(before).copied()
    }

    /// Returns the accesses to the event's object before the event, the latest first.
    pub(crate) fn earlier_accesses(&self, event: EventId) -> impl Iterator<Item = EventId> + '_ {
        let previous = |event: EventId| self.event(event).previous.access;
        std::iter::successors(previous(event), move |&event| previous(event))
    }

    /// Checks whether `first` happens before the previous event of `second`'s thread, or before the
    /// source of an edge to `second`. Then their order does not depend on their own conflict, so
    /// reversing the two directly is impossible.
    pub(crate) fn is_before_program(&self, first: EventId, second: EventId) -> bool {
        let mut past = self
            .previous_of(second)
            .into_iter()
            .chain(self.edges(second).iter().copied());
        past.any(|event| self.happens_before(first, event))
    }

    /// Returns the start of the run (consecutive events of one thread) that contains the event, and
    /// the position of the last yield in the run up to the event. Without a yield, both are the
    /// start. Switching to another thread at either position adds no preemption there.
    pub(crate) fn starts_of_run(&self, position: usize) -> [usize; 2] {
        let thread = self.events[position].thread();
        let before = self.events[..position].iter().rev();
        let start = position - before.take_while(|event| event.thread() == thread).count();
        let yields = self.events[start..=position]
            .iter()
            .rposition(|event| event.yields);
        [start, yields.map_or(start, |offset| start + offset)]
    }

    /// Returns the previous event of the same thread.
    fn previous_of(&self, event: EventId) -> Option<EventId> {
        let Point { thread, index } = self.event(event).point();
        let index = index - 1;
        self.event_at(Point { thread, index })
    }

    /// Checks a → b or a = b.
    pub fn happens_before(&self, a: EventId, b: EventId) -> bool {
        let event = self.event(a);
        self.knows(b, event.thread(), event.index)
    }

    /// Checks whether the event of `thread` with this index is `event` or happens before it.
    pub(crate) fn knows(&self, event: EventId, thread: ThreadId, index: u32) -> bool {
        self.clocks.at(event, thread) >= index
    }

    /// Returns the races, sorted by their second event.
    pub fn races(&self) -> &[Race] {
        &self.races
    }

    /// Returns the races whose second event is at `position` or later.
    pub fn races_from(&self, position: usize) -> &[Race] {
        let start = self
            .races
            .partition_point(|race| race.second.index() < position);
        &self.races[start..]
    }

    /// Returns the sources of the synchronization edges to an event.
    pub fn edges(&self, id: EventId) -> &[EventId] {
        let start = match id.index() {
            0 => 0,
            position => self.events[position - 1].edges_end as usize,
        };
        &self.edges[start..self.event(id).edges_end as usize]
    }

    /// Appends a performed operation and finds the races in which it is the second event.
    pub fn push(&mut self, step: Step, request: &Request, performed: &Performed<'_>) {
        let id = EventId::at(self.events.len());
        let op = performed.op;
        if self.positions.len() <= step.thread.index() {
            self.make_room(step.thread);
        }
        let events = &mut self.positions[step.thread.index()];
        let index = events.len() as u32 + 1;
        if !self.is_weak {
            self.clocks.push(events.last().copied(), step.thread, index);
        }
        events.push(id);
        if !performed.edges.is_empty() || !performed.next_edges.is_empty() {
            self.push_edges(performed);
        }
        let previous = self.last_at(op);
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
            yields: request.yields,
            is_fixed: performed.is_fixed,
            previous,
            edges_end: self.edges.len() as u32,
            next_edges_end: self.next_edges.len() as u32,
        });
        match (op.access, previous.write) {
            _ if self.is_weak => return,
            (Access::None, _) => return,
            (Access::Read, Some(write)) => self.follow(write, id),
            (Access::Read, None) => {}
            (Access::Write, _) => self.follow_all(previous, id),
        }
        self.set_last(op, previous.then(id, op.access));
    }

    #[inline(never)]
    fn push_edges(&mut self, performed: &Performed<'_>) {
        self.edges.extend_from_slice(performed.edges);
        self.next_edges.extend_from_slice(performed.next_edges);
        if self.is_weak {
            return;
        }
        for &edge in performed.edges {
            self.clocks.join(edge);
        }
    }

    /// Orders the pushed write after the reads since the object's last write, or after that write
    /// if there are no such reads.
    #[inline(never)]
    fn follow_all(&mut self, previous: Last, second: EventId) {
        let Last { access, write } = previous;
        if let Some(write) = write.filter(|_| access == write) {
            return self.follow(write, second);
        }
        let mut reads = access;
        while let Some(read) = reads.filter(|_| reads != write) {
            self.follow(read, second);
            reads = self.event(read).previous.access;
        }
    }

    /// Orders the event being pushed after the conflicting event `first`. The two race, unless the
    /// clock already orders them or `first` is fixed.
    #[inline(never)]
    fn follow(&mut self, first: EventId, second: EventId) {
        if !self.happens_before(first, second) {
            if !self.event(first).is_fixed {
                self.races.push(Race { first, second });
            }
            self.clocks.join(first);
        }
    }

    /// Returns the last access and the last write at the object of an operation that is about to be
    /// pushed.
    fn last_at(&self, op: Op) -> Last {
        match op.access {
            Access::None => Last::default(),
            Access::Read | Access::Write => self
                .last
                .get(op.object.index())
                .copied()
                .unwrap_or_default(),
        }
    }

    fn set_last(&mut self, op: Op, last: Last) {
        let object = op.object.index();
        if self.last.len() <= object {
            self.last.resize(object + 1, Last::default());
        }
        self.last[object] = last;
    }

    #[cold]
    fn make_room(&mut self, thread: ThreadId) {
        self.positions.resize_with(thread.index() + 1, Vec::new);
        if !self.is_weak {
            self.clocks.widen(thread.index() + 1);
        }
    }

    /// Removes all events from position `len` on.
    pub fn truncate(&mut self, len: usize) {
        while self.events.len() > len {
            let event = self.events.pop().expect("the execution is longer than len");
            self.positions[event.thread().index()].pop();
            if event.op.is_access() && !self.is_weak {
                self.last[event.op.object.index()] = event.previous;
            }
        }
        if !self.is_weak {
            self.clocks.truncate(len);
        }
        let (edges, next_edges) = self.ends_of_edges(len);
        self.edges.truncate(edges);
        self.next_edges.truncate(next_edges);
        self.races
            .truncate(self.races.partition_point(|race| race.second.index() < len));
    }

    /// Returns the sources of the synchronization edges that are already known for the thread's
    /// next event.
    pub(crate) fn next_edges_of(&self, thread: ThreadId) -> impl Iterator<Item = EventId> + '_ {
        let previous = self.last_of(thread);
        let known = previous.map_or(0, |previous| self.ends_of_edges(previous.index()).1);
        let next = self.next_edges[known..].iter();
        let own = next.filter(move |next| next.0 == thread);
        own.map(|&(_, edge)| edge)
    }

    /// Sets `reads_from` of an event, under a weak memory model.
    pub(crate) fn set_source(&mut self, id: EventId, source: ReadsFrom) {
        self.events[id.index()].step.reads_from = source;
    }

    /// Returns the lengths of the columns of edges and of next edges after the given number of
    /// events.
    fn ends_of_edges(&self, events: usize) -> (usize, usize) {
        self.events[..events].last().map_or((0, 0), |event| {
            (event.edges_end as usize, event.next_edges_end as usize)
        })
    }

    /// notdep(f, E): the events after `first` and before the position `until` that do not happen
    /// after `first`.
    pub fn notdep(&self, first: EventId, until: usize) -> impl Iterator<Item = EventId> + '_ {
        (first.index() + 1..until)
            .map(EventId::at)
            .filter(move |&event| !self.happens_before(first, event))
    }

    /// Writes to `followers` the events between the two events of the race that happen before the
    /// second.
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

    /// Returns the access that the race's second event has if it is performed right before the
    /// first. It differs from the recorded access only if the first event is a write and the second
    /// event is a conditional operation.
    pub fn reversed_access(&self, race: Race) -> Access {
        let first = self.event(race.first);
        let second = self.event(race.second);
        match first.op.access {
            Access::Write => second.access_at(first.before),
            Access::Read | Access::None => second.op.access,
        }
    }

    /// Checks whether all events that happen before this event lie before `position`.
    pub(crate) fn is_initial_from(&self, event: EventId, position: usize) -> bool {
        let own_thread = self.event(event).thread();
        self.clocks
            .row(event)
            .iter()
            .enumerate()
            .all(|(thread, &known)| {
                known == 0 || thread == own_thread.index() || {
                    self.positions[thread][known as usize - 1].index() < position
                }
            })
            && self.is_first_from(event, position)
    }

    /// Checks whether the event is the first of its thread from `position` on.
    fn is_first_from(&self, event: EventId, position: usize) -> bool {
        let Event { step, index, .. } = *self.event(event);
        index == 1 || self.positions[step.thread.index()][index as usize - 2].index() < position
    }

    /// Checks whether the previous event of the thread and the sources of the event's
    /// synchronization edges come before `position`. Then only a conflict can order the event after
    /// an event from `position` on.
    pub(crate) fn is_program_ordered_before(&self, event: EventId, position: usize) -> bool {
        self.is_first_from(event, position)
            && self.edges(event).iter().all(|edge| edge.index() < position)
    }

    /// Returns the clock of an event, indexed by thread.
    pub fn clock(&self, event: EventId) -> &[u32] {
        self.clocks.row(event)
    }

    /// Writes to `clock` the clock that the race's second event would have as a read right before
    /// the first event: po ⊔ clk(last write of the object). Here, po is the clock by program order
    /// and synchronization edges.
    pub(crate) fn clock_as_reversed_read(&self, race: Race, clock: &mut Vec<u32>) {
        let Event { step, index, .. } = *self.event(race.second);
        let events = &self.positions[step.thread.index()];
        let previous = (index > 1).then(|| events[index as usize - 2]);
        self.start_clock(clock, previous);
        for &edge in self.edges(race.second) {
            clock::join_into(clock, self.clock(edge));
        }
        if let Some(write) = self.event(race.first).previous.write {
            clock::join_into(clock, self.clock(write));
        }
        clock[step.thread.index()] = index;
    }

    /// Writes to `clock` the clock that a read of `object` by `thread` would have as the next
    /// event.
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
        if let Some(write) = self.last.get(object.index()).and_then(|last| last.write) {
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
            None => clock.resize(self.clocks.width(), 0),
        }
    }

    /// Returns the index of the thread's next event.
    pub(crate) fn next_index(&self, thread: ThreadId) -> u32 {
        self.positions.get(thread.index()).map_or(0, Vec::len) as u32 + 1
    }
}
