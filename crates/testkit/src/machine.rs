//! Runs abstract programs with the objects of the `objects` crate: the split semantics.

mod announce;
mod effect;
mod finals;
mod state;

pub use finals::{Final, Place};

use crate::code::{Local, Stop};
use crate::entry::{self, Kind};
use crate::phase::{self, Phase, phases};
use crate::plan::Plan;
use crate::program::{Action, Program, Sort, Verb};
use crate::trace::{Key, Record};
use effect::Event;
use explore::{
    Access, EventId, Fingerprint, Footprint, Interrupt, Op, OpKind, Outcome, Pending, Performed,
    ReadsFrom, Step, ThreadId, ValueId,
};
use objects::{Barrier, Channel, Condvar, Mutex, Object, Once, Park, RwLock, Ticket};
use std::rc::Rc;

/// A running abstract program. Clones are independent.
#[derive(Clone, Debug)]
pub struct Machine {
    plan: Rc<Plan>,
    /// Whether later stores of a thread continue its release sequence, as in C11 and C17.
    is_c11: bool,
    threads: Vec<Thread>,
    variables: Vec<u64>,
    /// The event that wrote the value of each variable.
    writers: Vec<Option<EventId>>,
    mutexes: Vec<Mutex>,
    rwlocks: Vec<RwLock>,
    condvars: Vec<Condvar>,
    /// For each kind of object with an entry (see `entry`), its objects.
    entries: Vec<Vec<entry::State>>,
    barriers: Vec<Barrier>,
    onces: Vec<Once>,
    channels: Vec<Channel>,
    /// For each channel, the message of each send, indexed by the ticket of the send.
    messages: Vec<Vec<u64>>,
    pending: Vec<Pending>,
    records: Vec<Record>,
    /// Synchronization edges to the first events of threads that the last step spawned.
    next_edges: Vec<(ThreadId, EventId)>,
}

#[derive(Clone, Default, Debug)]
struct Thread {
    local: Local,
    status: Status,
    /// The phase of the current action.
    phase: usize,
    ticket: Option<Ticket>,
    /// A result of an earlier phase of the action.
    flag: bool,
    mutexes: Vec<(usize, Ticket)>,
    rwlocks: Vec<(usize, Ticket)>,
    /// Channels whose sender handle or receiver the thread has dropped.
    dropped: Vec<usize>,
    park: Park,
    end: objects::Thread,
    last: Option<EventId>,
    events: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
enum Status {
    #[default]
    NotStarted,
    Running,
    /// At its last event, for which others poll.
    Ending,
    Assuming,
    Failed,
    Finished,
}

/// Whether the action of an event continues or has ended.
enum Flow {
    Next,
    Done,
}

impl Machine {
    /// Creates the machine in the initial state of the program.
    pub fn new(program: &Program) -> Machine {
        let plan = Plan::new(program);
        let mut machine = Machine {
            is_c11: false,
            threads: vec![Thread::default(); plan.is_root.len()],
            variables: vec![0; plan.variables],
            writers: vec![None; plan.variables],
            mutexes: vec![Mutex::default(); plan.mutexes],
            rwlocks: vec![RwLock::default(); plan.rwlocks.len()],
            condvars: vec![Condvar::default(); plan.condvars],
            entries: Kind::ALL
                .iter()
                .zip(&plan.entries)
                .map(|(kind, sizes)| sizes.iter().map(|&size| kind.state(size)).collect())
                .collect(),
            barriers: Vec::new(),
            onces: vec![Once::default(); plan.onces],
            channels: Vec::new(),
            messages: Vec::new(),
            pending: Vec::new(),
            records: Vec::new(),
            next_edges: Vec::new(),
            plan: Rc::new(plan),
        };
        machine.begin();
        machine
    }

    /// Sets whether later stores of a thread continue its release sequence.
    #[must_use]
    pub fn with_release_sequences(mut self, is_c11: bool) -> Machine {
        self.is_c11 = is_c11;
        self.announce_all();
        self
    }

    /// Returns the events performed so far.
    pub(crate) fn records(&self) -> &[Record] {
        &self.records
    }

    /// Returns the key of the orbit of the trace: the smallest key of the traces that arise from it
    /// by exchanging twins.
    pub(crate) fn orbit(&self) -> Key {
        let mut groups: Vec<Vec<ThreadId>> = Vec::new();
        for (index, twin) in self.plan.twins.iter().enumerate() {
            let thread = ThreadId::from_index(index);
            let group = groups
                .iter_mut()
                .find(|group| group.last() == twin.as_ref());
            match group {
                Some(group) => group.push(thread),
                None => groups.push(vec![thread]),
            }
        }
        let renamed = |names: &Vec<ThreadId>| {
            let mut records = self.records.clone();
            for record in &mut records {
                record.step.thread = names[record.step.thread.index()];
            }
            Key::of(&records)
        };
        let mut all = vec![(0..self.threads.len()).map(ThreadId::from_index).collect()];
        for group in &groups {
            let with_group = |names: Vec<ThreadId>| {
                let permuted = permutations(group).into_iter();
                permuted.map(move |permuted| {
                    let mut names = names.clone();
                    for (thread, name) in group.iter().zip(permuted) {
                        names[thread.index()] = name;
                    }
                    names
                })
            };
            all = all.into_iter().flat_map(with_group).collect();
        }
        let keys = all.iter().map(renamed);
        keys.min().expect("there is the trace itself")
    }

    /// Returns the event performed last.
    pub(crate) fn performed(&self) -> Performed<'_> {
        let record = self.records.last().expect("something was performed");
        let &Record {
            op,
            before,
            after,
            ref edges,
            ..
        } = record;
        Performed {
            before,
            after,
            edges,
            next_edges: &self.next_edges,
            ..Performed::of(op)
        }
    }

    /// Resets the machine to the initial state. All vectors keep their memory.
    fn begin(&mut self) {
        let plan = Rc::clone(&self.plan);
        for (thread, &is_root) in self.threads.iter_mut().zip(&plan.is_root) {
            thread.clear();
            if is_root {
                thread.status = Status::Running;
            }
        }
        self.variables.fill(0);
        self.writers.fill(None);
        self.mutexes.iter_mut().for_each(|mutex| mutex.clear(()));
        self.rwlocks.iter_mut().for_each(|lock| lock.clear(false));
        self.condvars
            .iter_mut()
            .for_each(|condvar| condvar.clear(()));
        self.onces.iter_mut().for_each(|once| once.clear(()));
        let sizes = plan.entries.iter().flatten();
        for (object, &size) in self.entries.iter_mut().flatten().zip(sizes) {
            object.clear(size);
        }
        self.barriers
            .resize_with(plan.barriers.len(), Barrier::default);
        for (barrier, own) in self.barriers.iter_mut().zip(&plan.barriers) {
            barrier.clear(own.places);
        }
        for (number, own) in plan.channels.iter().enumerate() {
            match self.channels.get_mut(number) {
                Some(channel) => channel.clear(own.capacity()),
                None => self.channels.push(Channel::new(own.capacity())),
            }
            (1..own.senders).for_each(|_| self.channels[number].clone_sender());
        }
        self.messages.resize_with(plan.channels.len(), Vec::new);
        self.messages.iter_mut().for_each(Vec::clear);
        self.records.clear();
        for number in 0..self.threads.len() {
            if plan.is_root[number] {
                self.run_on(number);
            }
        }
        self.announce_all();
    }

    /// Runs a thread up to its next event.
    fn run_on(&mut self, number: usize) {
        let plan = Rc::clone(&self.plan);
        let thread = &mut self.threads[number];
        loop {
            match plan.codes[number].run(&mut thread.local) {
                Stop::At(action) if thread.skips(action) => thread.local.next += 1,
                Stop::At(_) => return,
                Stop::AssumptionFails => thread.status = Status::Assuming,
                Stop::AssertionFails => thread.status = Status::Failed,
                Stop::End if plan.is_polled[number] => thread.status = Status::Ending,
                Stop::End => {
                    thread.status = Status::Finished;
                    if let Some(last) = thread.last {
                        thread.end.finish(last);
                    }
                }
            }
            if thread.status != Status::Running {
                return;
            }
        }
    }

    fn action(&self, number: usize) -> &Action {
        self.plan.codes[number].action(&self.threads[number].local)
    }

    fn phase(&self, number: usize) -> Phase {
        let thread = &self.threads[number];
        match thread.status {
            Status::Ending => Phase::Thread(phase::Thread::End),
            Status::NotStarted
            | Status::Running
            | Status::Assuming
            | Status::Failed
            | Status::Finished => self.phases(number)[thread.phase],
        }
    }

    /// Returns the first object of the current action.
    fn object(&self, number: usize) -> usize {
        self.action(number).objects[0]
    }

    /// Returns the phases of the current action.
    fn phases(&self, number: usize) -> &'static [Phase] {
        let action = self.action(number);
        let is_channel = action.verb.signature().sorts.first() == Some(&Sort::Channel);
        let capacity = is_channel.then(|| self.plan.channels[action.objects[0]].bound);
        phases(action.verb, capacity.flatten())
    }

    /// Returns the value of the variable that an operation accesses, or the default for other
    /// objects.
    fn token(&self, op: Op) -> ValueId {
        variable_of(op).map_or(ValueId::default(), |variable| {
            ValueId(self.variables[variable])
        })
    }

    /// Puts the value that an access reads into memory, if it is not the current value. Returns the
    /// previous content of memory, or `None` if the operation accesses no variable.
    fn read_from(&mut self, op: Op, from: ReadsFrom) -> Option<u64> {
        let variable = variable_of(op)?;
        let memory = self.variables[variable];
        if from == ReadsFrom::INITIAL {
            self.variables[variable] = 0;
        } else if let Some(write) = from.event() {
            self.variables[variable] = self.records[write.index()].after.0;
        }
        Some(memory)
    }

    /// Ends an access to a variable. Its write stays in memory only if it is the newest in
    /// coherence order.
    fn write_behind(&mut self, op: Op, from: ReadsFrom, memory: Option<u64>) {
        let (Some(variable), Some(memory)) = (variable_of(op), memory) else {
            return;
        };
        let is_newest = op.access == Access::Write
            && match from {
                ReadsFrom::LAST | ReadsFrom::NEWEST => true,
                ReadsFrom::OVERWRITTEN => false,
                from => self.writers[variable] == from.event(),
            };
        match is_newest {
            true => self.writers[variable] = Some(EventId::at(self.records.len() - 1)),
            false => self.variables[variable] = memory,
        }
    }

    fn perform(&mut self, number: usize, choice: u32) {
        let phase = self.phase(number);
        let at = EventId::at(self.records.len() - 1);
        if phase == Phase::Thread(phase::Thread::End) {
            let thread = &mut self.threads[number];
            thread.end.finish(at);
            thread.status = Status::Finished;
            return;
        }
        let length = self.phases(number).len();
        let plan = Rc::clone(&self.plan);
        let event = Event {
            number,
            action: plan.codes[number].action(&self.threads[number].local),
            choice,
            at,
        };
        let flow = self.effect(phase, event);
        let thread = &mut self.threads[number];
        thread.phase += 1;
        let is_over = match flow {
            Flow::Next => thread.phase == length,
            Flow::Done => true,
        };
        if is_over {
            thread.finish_action();
            self.run_on(number);
        }
    }
}

fn permutations(threads: &[ThreadId]) -> Vec<Vec<ThreadId>> {
    let Some((&first, rest)) = threads.split_first() else {
        return vec![Vec::new()];
    };
    let with_first = |rest: Vec<ThreadId>| {
        (0..=rest.len()).map(move |at| {
            let mut all = rest.clone();
            all.insert(at, first);
            all
        })
    };
    permutations(rest)
        .into_iter()
        .flat_map(with_first)
        .collect()
}

/// Returns the variable that an operation accesses.
fn variable_of(op: Op) -> Option<usize> {
    let is_variable = matches!(
        op.kind,
        OpKind::Load | OpKind::Store | OpKind::ReadModifyWrite | OpKind::CompareExchange
    );
    is_variable.then(|| op.object.index())
}

impl Thread {
    /// Returns the ticket that the current action took.
    fn ticket(&self) -> Ticket {
        self.ticket.expect("the request comes before")
    }

    /// Returns the most recent hold of a reader-writer lock: its index among the holds, and its
    /// ticket.
    fn held(&self, lock: usize) -> (usize, Ticket) {
        let index = self.rwlocks.iter().rposition(|&(held, _)| held == lock);
        let index = index.expect("the thread holds the lock");
        (index, self.rwlocks[index].1)
    }

    /// Checks whether an action is meaningless here and skipped.
    fn skips(&self, action: &Action) -> bool {
        let sorts = action.verb.signature().sorts;
        let needs_mutex = matches!(action.verb, Verb::Unlock | Verb::Wait | Verb::TimedWait);
        let needs_lock = action.verb == Verb::Release;
        let needs_end = sorts.first() == Some(&Sort::Channel);
        let is_held = |&(held, _): &(usize, _)| held == action.objects[0];
        needs_mutex
            && !self
                .mutexes
                .iter()
                .any(|&(held, _)| held == action.object(Sort::Mutex))
            || needs_lock && !self.rwlocks.iter().any(is_held)
            || needs_end && self.dropped.contains(&action.objects[0])
    }

    /// Resets the thread.
    fn clear(&mut self) {
        self.local = Local::default();
        self.status = Status::NotStarted;
        self.phase = 0;
        self.ticket = None;
        self.flag = false;
        self.mutexes.clear();
        self.rwlocks.clear();
        self.dropped.clear();
        self.park.clear(());
        self.end.clear();
        self.last = None;
        self.events = 0;
    }

    fn finish_action(&mut self) {
        self.phase = 0;
        self.ticket = None;
        self.flag = false;
        self.local.next += 1;
    }
}

impl explore::Program for Machine {
    fn reset(&mut self) {
        self.begin();
    }

    fn pending(&self) -> &[Pending] {
        &self.pending
    }

    fn step(&mut self, step: Step) -> Result<Performed<'_>, Interrupt> {
        let number = step.thread.index();
        let Pending::Enabled(request) = self.pending[number] else {
            panic!("{} is not enabled", step.thread);
        };
        assert!(
            step.choice < request.alternatives,
            "the operation has fewer alternatives"
        );
        let edges = self.edges(number);
        let memory = self.read_from(request.op, step.reads_from);
        let before = self.token(request.op);
        let mut op = request.op;
        op.access = request.access_at(before);
        let event = EventId::at(self.records.len());
        self.next_edges.clear();
        if self.phase(number) == Phase::Thread(phase::Thread::Spawn) {
            let spawned = ThreadId::from_index(self.action(number).objects[0]);
            self.next_edges.push((spawned, event));
        }
        let thread = &mut self.threads[number];
        thread.events += 1;
        thread.last = Some(event);
        self.records.push(Record {
            step,
            index: thread.events,
            alternatives: request.alternatives,
            op,
            before,
            after: before,
            edges,
        });
        self.perform(number, step.choice);
        let after = self.token(request.op);
        self.write_behind(op, step.reads_from, memory);
        self.announce_all();
        self.records
            .last_mut()
            .expect("the event was just recorded")
            .after = after;
        Ok(self.performed())
    }

    fn outcome(&self) -> Outcome {
        Outcome::of(&self.pending, |_| false)
    }

    fn twin(&self, thread: ThreadId) -> Option<ThreadId> {
        self.plan.twins[thread.index()]
    }

    fn fingerprint(&self) -> Option<Fingerprint> {
        Some(self.state())
    }

    fn footprint(&self, thread: ThreadId) -> Option<Footprint> {
        self.footprint_of(thread)
    }
}
