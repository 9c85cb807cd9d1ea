//! Runs abstract programs with the objects of the `objects` crate: the split semantics.

use crate::code::{Local, Stop};
use crate::phase::{Phase, phases};
use crate::plan::Plan;
use crate::program::{Action, Program, Sort, Verb};
use crate::trace::Record;
use explore::{
    Access, EventId, Halt, Interrupt, ObjectId, Op, OpKind, Outcome, Pending, Performed, Request,
    Step, ThreadId, Token,
};
use objects::{
    Barrier, Channel, Condvar, Form, Mutex, Once, Park, Received, RwLock, Semaphore, Sent, Ticket,
};
use std::rc::Rc;

/// A running abstract program. A clone goes on independently.
#[derive(Clone, Debug)]
pub struct Machine {
    plan: Rc<Plan>,
    threads: Vec<Thread>,
    variables: Vec<u64>,
    mutexes: Vec<Mutex>,
    rwlocks: Vec<RwLock>,
    condvars: Vec<Condvar>,
    semaphores: Vec<Semaphore>,
    barriers: Vec<Barrier>,
    onces: Vec<Once>,
    channels: Vec<Channel>,
    /// For each channel the message of each send, by its ticket.
    messages: Vec<Vec<u64>>,
    pending: Vec<Pending>,
    records: Vec<Record>,
}

#[derive(Clone, Debug)]
struct Thread {
    local: Local,
    status: Status,
    /// The phase of the action at hand.
    phase: usize,
    ticket: Option<Ticket>,
    /// What an earlier phase of the action found out.
    flag: bool,
    mutexes: Vec<(usize, Ticket)>,
    rwlocks: Vec<(usize, Ticket)>,
    /// Channels of which the thread dropped its handle or the receiver.
    dropped: Vec<usize>,
    park: Park,
    end: objects::Thread,
    last: Option<EventId>,
    events: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Status {
    Unborn,
    Running,
    /// At the event that tells its end.
    Ending,
    Assuming,
    Failed,
    Finished,
}

/// What a thread is in the end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Place {
    /// Not started.
    Unborn,
    /// At its end.
    Finished,
    /// An assertion failed.
    Failed,
    /// At an assumption that does not hold.
    Assuming,
    /// At the action with this number; `for_signal`: at a condition variable, not yet signalled.
    At {
        /// Number of the instruction.
        instruction: usize,
        /// Whether it waits for a signal.
        for_signal: bool,
    },
}

/// The values and places in the end.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Final {
    /// Each variable.
    pub variables: Vec<u64>,
    /// Registers and place of each thread.
    pub threads: Vec<(Vec<u64>, Place)>,
}

/// Whether the action of an event goes on or is over.
enum Flow {
    Next,
    Done,
}

impl Machine {
    /// The program at its start.
    pub fn new(program: &Program) -> Machine {
        let plan = Plan::new(program);
        let thread = |is_root: &bool| Thread {
            local: Local::default(),
            status: if *is_root {
                Status::Running
            } else {
                Status::Unborn
            },
            phase: 0,
            ticket: None,
            flag: false,
            mutexes: Vec::new(),
            rwlocks: Vec::new(),
            dropped: Vec::new(),
            park: Park::default(),
            end: objects::Thread::default(),
            last: None,
            events: 0,
        };
        let mut machine = Machine {
            threads: plan.is_root.iter().map(thread).collect(),
            variables: vec![0; plan.variables],
            mutexes: vec![Mutex::default(); plan.mutexes],
            rwlocks: vec![RwLock::default(); plan.rwlocks.len()],
            condvars: vec![Condvar::default(); plan.condvars],
            semaphores: Vec::new(),
            barriers: Vec::new(),
            onces: vec![Once::default(); plan.onces],
            channels: Vec::new(),
            messages: Vec::new(),
            pending: Vec::new(),
            records: Vec::new(),
            plan: Rc::new(plan),
        };
        machine.begin();
        machine
    }

    /// What happened so far.
    pub(crate) fn records(&self) -> &[Record] {
        &self.records
    }

    /// What was performed last.
    pub(crate) fn performed(&self) -> Performed<'_> {
        let record = self.records.last().expect("something was performed");
        let &Record {
            op,
            before,
            after,
            ref edges,
            spawns,
            ..
        } = record;
        Performed {
            op,
            before,
            after,
            edges,
            spawns,
        }
    }

    /// Values and places, for comparison with the direct semantics.
    pub fn end(&self) -> Final {
        Final {
            variables: self.variables.clone(),
            threads: (0..self.threads.len())
                .map(|thread| {
                    (
                        self.threads[thread].local.registers.to_vec(),
                        self.place(thread),
                    )
                })
                .collect(),
        }
    }

    /// Whether some reader waits only because writers wait.
    pub fn is_overtaking(&self) -> bool {
        (0..self.threads.len()).any(|number| {
            let thread = &self.threads[number];
            thread.status == Status::Running && self.phase(number) == Phase::ReadWait && {
                let lock = self.action(number).objects[0];
                self.rwlocks[lock].is_overtaking(thread.ticket.expect("it has requested"))
            }
        })
    }

    fn place(&self, number: usize) -> Place {
        let thread = &self.threads[number];
        match thread.status {
            Status::Unborn => Place::Unborn,
            Status::Finished | Status::Ending => Place::Finished,
            Status::Failed => Place::Failed,
            Status::Assuming => Place::Assuming,
            Status::Running => Place::At {
                instruction: thread.local.next,
                for_signal: self.phase(number) == Phase::Signalled,
            },
        }
    }

    /// As it was made: all vectors keep their memory.
    fn begin(&mut self) {
        let plan = Rc::clone(&self.plan);
        for (thread, &is_root) in self.threads.iter_mut().zip(&plan.is_root) {
            thread.local = Local::default();
            thread.status = if is_root {
                Status::Running
            } else {
                Status::Unborn
            };
            thread.phase = 0;
            thread.ticket = None;
            thread.flag = false;
            thread.mutexes.clear();
            thread.rwlocks.clear();
            thread.dropped.clear();
            thread.park.clear();
            thread.end.clear();
            thread.last = None;
            thread.events = 0;
        }
        self.variables.fill(0);
        self.mutexes.iter_mut().for_each(Mutex::clear);
        self.rwlocks.iter_mut().for_each(RwLock::clear);
        self.condvars.iter_mut().for_each(Condvar::clear);
        self.onces.iter_mut().for_each(Once::clear);
        self.semaphores
            .resize_with(plan.semaphores.len(), Semaphore::default);
        for (semaphore, &permits) in self.semaphores.iter_mut().zip(&plan.semaphores) {
            semaphore.clear(permits);
        }
        self.barriers
            .resize_with(plan.barriers.len(), Barrier::default);
        for (barrier, own) in self.barriers.iter_mut().zip(&plan.barriers) {
            barrier.clear(own.places);
        }
        for (number, own) in plan.channels.iter().enumerate() {
            match self.channels.get_mut(number) {
                Some(channel) => channel.clear(own.form()),
                None => self.channels.push(Channel::new(own.form())),
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

    /// Runs a thread on to its next event.
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
            Status::Ending => Phase::End,
            _ => self.phases(number)[thread.phase],
        }
    }

    /// The phases of the action at hand.
    fn phases(&self, number: usize) -> &'static [Phase] {
        let action = self.action(number);
        let is_channel = action.verb.signature().sorts.first() == Some(&Sort::Channel);
        let capacity = is_channel.then(|| self.plan.channels[action.objects[0]].capacity);
        phases(action.verb, capacity.flatten())
    }

    fn announce_all(&mut self) {
        let mut pending = std::mem::take(&mut self.pending);
        pending.clear();
        pending.extend((0..self.threads.len()).map(|number| self.announce(number)));
        self.pending = pending;
    }

    fn announce(&self, number: usize) -> Pending {
        match self.threads[number].status {
            Status::Unborn => Pending::Unborn,
            Status::Assuming => Pending::Halted(Halt::Assume),
            Status::Failed => Pending::Failed,
            Status::Finished => Pending::Finished,
            Status::Running | Status::Ending => {
                let request = self.request(number);
                if self.is_granted(number) {
                    Pending::Enabled(request)
                } else {
                    Pending::Waiting(request)
                }
            }
        }
    }

    fn request(&self, number: usize) -> Request {
        let phase = self.phase(number);
        let request = Request::plain(self.op(number, phase));
        if phase == Phase::End {
            return request;
        }
        let thread = &self.threads[number];
        let action = self.action(number);
        match phase {
            Phase::CompareExchange if !thread.flag => {
                let expected = Token(thread.local.value(action.values[0]));
                let value = Token(self.variables[action.objects[0]]);
                let mut request = Request {
                    expects: Some(expected),
                    ..request
                };
                request.op.access = request.access_at(value);
                request
            }
            Phase::MaybeSpurious => Request {
                alternatives: 2,
                ..request
            },
            Phase::Choose => {
                let ways = thread.local.value(action.values[0]).max(1) as u32;
                Request {
                    alternatives: ways,
                    ..request
                }
            }
            Phase::Signal => {
                let condvar = &self.condvars[action.objects[0]];
                Request {
                    alternatives: condvar.alternatives(),
                    ..request
                }
            }
            _ => request,
        }
    }

    /// The operation of a phase; that of a compare-exchange as if it failed.
    fn op(&self, number: usize, phase: Phase) -> Op {
        let plan = &*self.plan;
        let first = || self.action(number).objects[0];
        let variable = |kind, access| Op {
            kind,
            access,
            object: plan.object(Sort::Variable, first()),
        };
        let nothing = |kind| Op {
            kind,
            access: Access::None,
            object: ObjectId::NONE,
        };
        let at = |sort: Sort, form: Form| form.on(plan.object(sort, first()));
        // Of a wait at a condition variable the mutex is the second object.
        let mutex = |form: Form| {
            let action = self.action(number);
            let last = action.objects.last().expect("it has a mutex");
            form.on(plan.object(Sort::Mutex, *last))
        };
        let channel = |form: fn(&Plan, usize) -> Form| at(Sort::Channel, form(plan, first()));
        let park = |thread: usize, form: Form| {
            form.on(plan
                .object(Sort::Thread, thread)
                .part(objects::Thread::PARTS))
        };
        let tried = || plan.rwlocks[first()];
        match phase {
            Phase::Load => variable(OpKind::Load, Access::Read),
            Phase::Store => variable(OpKind::Store, Access::Write),
            Phase::FetchAdd | Phase::Swap => variable(OpKind::ReadModifyWrite, Access::Write),
            Phase::CompareExchange => variable(OpKind::CompareExchange, Access::Read),
            Phase::Initialise => Op {
                kind: OpKind::Store,
                access: Access::Write,
                object: plan.object(Sort::Variable, self.action(number).objects[1]),
            },
            Phase::MaybeSpurious | Phase::Choose => nothing(OpKind::Choose),
            Phase::Fence => nothing(OpKind::Fence),
            Phase::MutexRequest => mutex(Mutex::REQUEST),
            Phase::MutexWait => mutex(Mutex::WAIT),
            Phase::MutexUnlock => mutex(Mutex::UNLOCK),
            Phase::MutexTryPlace => mutex(Mutex::TRY_PLACE),
            Phase::MutexTryResult => mutex(Mutex::TRY_RESULT),
            Phase::ReadRequest => at(Sort::RwLock, RwLock::READ_REQUEST),
            Phase::ReadWait => at(Sort::RwLock, RwLock::READ_WAIT),
            Phase::WriteRequest => at(Sort::RwLock, RwLock::WRITE_REQUEST),
            Phase::WriteWait => at(Sort::RwLock, RwLock::WRITE_WAIT),
            Phase::Release => {
                let ticket = self.threads[number].held(first()).1;
                at(
                    Sort::RwLock,
                    match self.rwlocks[first()].is_writer(ticket) {
                        true => RwLock::write_release(tried()),
                        false => RwLock::read_release(tried()),
                    },
                )
            }
            Phase::TryRead => {
                debug_assert!(tried());
                at(Sort::RwLock, RwLock::TRY_READ)
            }
            Phase::TryWrite => {
                debug_assert!(tried());
                at(Sort::RwLock, RwLock::TRY_WRITE)
            }
            Phase::Enqueue => at(Sort::Condvar, Condvar::ENQUEUE),
            Phase::Signalled => at(Sort::Condvar, Condvar::WAIT),
            Phase::ResolveWait => at(Sort::Condvar, Condvar::RESOLVE),
            Phase::Signal => at(Sort::Condvar, Condvar::SIGNAL),
            Phase::Broadcast => at(Sort::Condvar, Condvar::BROADCAST),
            Phase::SemaphoreRequest => at(Sort::Semaphore, Semaphore::REQUEST),
            Phase::SemaphoreWait => at(Sort::Semaphore, Semaphore::WAIT),
            Phase::SemaphoreRelease => at(Sort::Semaphore, Semaphore::RELEASE),
            Phase::SemaphoreTryPlace => at(Sort::Semaphore, Semaphore::TRY_PLACE),
            Phase::SemaphoreTryResult => at(Sort::Semaphore, Semaphore::TRY_RESULT),
            Phase::Arrive => at(
                Sort::Barrier,
                Barrier::arrive_form(plan.barriers[first()].is_ordered),
            ),
            Phase::BarrierWait => at(Sort::Barrier, Barrier::WAIT),
            Phase::OnceEnter => at(Sort::Once, Once::ENTER),
            Phase::OnceWait => at(Sort::Once, Once::WAIT),
            Phase::OnceDone | Phase::OnceFail => at(Sort::Once, Once::DONE),
            Phase::OnceGet => at(Sort::Once, Once::GET),
            Phase::SendRequest => at(Sort::Channel, Channel::SEND_REQUEST),
            Phase::SendWait => at(Sort::Channel, Channel::SEND_WAIT),
            Phase::SendTryPlace => at(Sort::Channel, Channel::SEND_TRY_PLACE),
            Phase::SendTryResult => {
                channel(|plan, n| Channel::send_try_result(plan.channels[n].form()))
            }
            Phase::RendezvousTrySend => at(Sort::Channel, Channel::RENDEZVOUS_TRY_SEND),
            Phase::ReceiveRequest => channel(|plan, n| {
                let own = &plan.channels[n];
                Channel::receive_request_form(own.form(), own.is_tried)
            }),
            Phase::ReceiveWait => at(Sort::Channel, Channel::RECEIVE_WAIT),
            Phase::ClosedCheck => at(Sort::Channel, Channel::CLOSED_CHECK),
            Phase::ReceiveTryPlace => {
                channel(|plan, n| Channel::receive_try_place(plan.channels[n].form()))
            }
            Phase::ReceiveTryResult => {
                channel(|plan, n| Channel::receive_try_result(plan.channels[n].form()))
            }
            Phase::RendezvousTryReceive => at(Sort::Channel, Channel::RENDEZVOUS_TRY_RECEIVE),
            Phase::SenderDrop => channel(|plan, n| Channel::sender_drop(plan.channels[n].is_tried)),
            Phase::ReceiverDrop => at(Sort::Channel, Channel::RECEIVER_DROP),
            Phase::ParkRequest => park(number, Park::REQUEST),
            Phase::ParkWait => park(number, Park::WAIT),
            Phase::ParkResolve => park(number, Park::RESOLVE),
            Phase::Unpark => park(first(), Park::UNPARK),
            Phase::Spawn => at(Sort::Thread, objects::Thread::SPAWN),
            Phase::Join => at(Sort::Thread, objects::Thread::JOIN),
            Phase::IsFinished => at(Sort::Thread, objects::Thread::IS_FINISHED),
            Phase::End => objects::Thread::END.on(plan.object(Sort::Thread, number)),
        }
    }

    /// Whether the wait that a thread is at is over; everything else is always enabled.
    fn is_granted(&self, number: usize) -> bool {
        let thread = &self.threads[number];
        let ticket = || thread.ticket.expect("a wait comes after its request");
        let object = || self.action(number).objects[0];
        match self.phase(number) {
            Phase::MutexWait => {
                let mutex = *self.action(number).objects.last().expect("it has a mutex");
                self.mutexes[mutex].is_granted(ticket())
            }
            Phase::ReadWait | Phase::WriteWait => self.rwlocks[object()].is_granted(ticket()),
            Phase::Signalled => self.condvars[object()].is_signalled(ticket()),
            Phase::SemaphoreWait => self.semaphores[object()].is_granted(ticket()),
            Phase::BarrierWait => self.barriers[object()].is_granted(ticket()),
            Phase::OnceWait => self.onces[object()].is_granted(ticket()),
            Phase::SendWait => self.channels[object()].is_send_over(ticket()),
            Phase::ReceiveWait => self.channels[object()].is_receive_over(ticket()),
            Phase::ParkWait => thread.park.is_granted(),
            Phase::Join => self.threads[object()].status == Status::Finished,
            _ => true,
        }
    }

    /// The after edges of the event that a thread is at.
    fn edges(&self, number: usize, edges: &mut Vec<EventId>) {
        let thread = &self.threads[number];
        if thread.events == 0 {
            // The spawn, for a thread that does not exist from the start.
            edges.extend(thread.last);
        }
        let ticket = || thread.ticket.expect("a wait comes after its request");
        let object = || self.action(number).objects[0];
        match self.phase(number) {
            Phase::MutexWait => {
                let mutex = *self.action(number).objects.last().expect("it has a mutex");
                self.mutexes[mutex].edges(ticket(), edges);
            }
            Phase::ReadWait | Phase::WriteWait => self.rwlocks[object()].edges(ticket(), edges),
            Phase::Signalled => self.condvars[object()].edges(ticket(), edges),
            Phase::SemaphoreWait => self.semaphores[object()].edges(ticket(), edges),
            Phase::BarrierWait => self.barriers[object()].edges(ticket(), edges),
            Phase::OnceWait => self.onces[object()].edges(ticket(), edges),
            Phase::SendWait => self.channels[object()].send_edges(ticket(), edges),
            Phase::ReceiveWait => self.channels[object()].receive_edges(ticket(), edges),
            Phase::ParkWait => thread.park.edges(edges),
            Phase::Join => self.threads[object()].end.edges(edges),
            _ => {}
        }
    }

    /// The value of the variable that an operation is about; else nothing.
    fn token(&self, op: Op) -> Token {
        match op.kind {
            OpKind::Load | OpKind::Store | OpKind::ReadModifyWrite | OpKind::CompareExchange => {
                Token(self.variables[op.object.index()])
            }
            _ => Token(0),
        }
    }

    fn perform(&mut self, number: usize, choice: u32) {
        let phase = self.phase(number);
        let at = EventId::at(self.records.len() - 1);
        if phase == Phase::End {
            let thread = &mut self.threads[number];
            thread.end.finish(at);
            thread.status = Status::Finished;
            return;
        }
        let length = self.phases(number).len();
        let flow = self.effect(number, phase, choice, at);
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

    /// What an event does. Ends the action early where the rest does not apply.
    fn effect(&mut self, number: usize, phase: Phase, choice: u32, at: EventId) -> Flow {
        let plan = Rc::clone(&self.plan);
        let action = plan.codes[number].action(&self.threads[number].local);
        let id = ThreadId::from_index(number);
        let object = action.objects.first().copied().unwrap_or(0);
        let mutex = action.objects.last().copied().unwrap_or(0);
        let thread = &mut self.threads[number];
        let ticket = thread.ticket;
        let granted = || ticket.expect("the request comes before");
        let value = |index: usize| thread.local.value(action.values[index]);
        let result = match phase {
            Phase::Load => Some(self.variables[object]),
            Phase::Store => {
                self.variables[object] = value(0);
                None
            }
            Phase::FetchAdd => {
                let old = self.variables[object];
                self.variables[object] = old.wrapping_add(value(0));
                Some(old)
            }
            Phase::Swap => Some(std::mem::replace(&mut self.variables[object], value(0))),
            Phase::CompareExchange => {
                let old = self.variables[object];
                let succeeds = old == value(0) && !thread.flag;
                if succeeds {
                    self.variables[object] = value(1);
                }
                let is_weak = action.verb == Verb::WeakCompareExchange;
                Some(if is_weak { u64::from(succeeds) } else { old })
            }
            Phase::Initialise => {
                self.variables[action.objects[1]] = value(0);
                None
            }
            Phase::MaybeSpurious => {
                thread.flag = choice == 1;
                None
            }
            Phase::Fence => None,
            Phase::Choose => Some(u64::from(choice)),
            Phase::MutexRequest | Phase::MutexTryPlace => {
                thread.ticket = Some(self.mutexes[mutex].request(id));
                None
            }
            Phase::MutexWait => {
                thread.mutexes.push((mutex, granted()));
                None
            }
            Phase::MutexUnlock => {
                let held = thread.mutexes.iter().rposition(|&(held, _)| held == mutex);
                let (_, ticket) = thread.mutexes.remove(held.expect("it holds the mutex"));
                self.mutexes[mutex].unlock(ticket, at);
                None
            }
            Phase::MutexTryResult => {
                let succeeds = self.mutexes[mutex].resolve(granted());
                if succeeds {
                    thread.mutexes.push((mutex, granted()));
                }
                Some(u64::from(succeeds))
            }
            Phase::ReadRequest => {
                thread.ticket = Some(self.rwlocks[object].read_request(id));
                None
            }
            Phase::WriteRequest => {
                thread.ticket = Some(self.rwlocks[object].write_request(id));
                None
            }
            Phase::ReadWait | Phase::WriteWait => {
                thread.rwlocks.push((object, granted()));
                None
            }
            Phase::Release => {
                let (index, ticket) = thread.held(object);
                thread.rwlocks.remove(index);
                self.rwlocks[object].release(ticket, at);
                None
            }
            Phase::TryRead | Phase::TryWrite => {
                let lock = &mut self.rwlocks[object];
                let ticket = if phase == Phase::TryRead {
                    lock.try_read(id)
                } else {
                    lock.try_write(id)
                };
                thread.rwlocks.extend(ticket.map(|ticket| (object, ticket)));
                Some(u64::from(ticket.is_some()))
            }
            Phase::Enqueue => {
                thread.ticket = Some(self.condvars[object].enqueue(id));
                None
            }
            Phase::Signalled | Phase::SemaphoreWait | Phase::ParkWait | Phase::Join => None,
            Phase::ResolveWait => Some(u64::from(self.condvars[object].resolve(granted()))),
            Phase::Signal => {
                self.condvars[object].signal(choice, at);
                None
            }
            Phase::Broadcast => {
                self.condvars[object].broadcast(at);
                None
            }
            Phase::SemaphoreRequest | Phase::SemaphoreTryPlace => {
                thread.ticket = Some(self.semaphores[object].request(at));
                None
            }
            Phase::SemaphoreRelease => {
                self.semaphores[object].release(at);
                None
            }
            Phase::SemaphoreTryResult => {
                Some(u64::from(self.semaphores[object].resolve(granted())))
            }
            Phase::Arrive => {
                thread.ticket = Some(self.barriers[object].arrive(id, at));
                None
            }
            Phase::BarrierWait if action.verb == Verb::Lead => {
                Some(u64::from(self.barriers[object].is_leader(granted())))
            }
            Phase::BarrierWait => None,
            Phase::OnceEnter => {
                thread.ticket = Some(self.onces[object].enter(id));
                None
            }
            Phase::OnceWait => {
                if !self.onces[object].is_initialiser(granted()) {
                    return Flow::Done;
                }
                None
            }
            Phase::OnceDone => {
                self.onces[object].finish(at);
                None
            }
            Phase::OnceFail => {
                self.onces[object].fail(at);
                None
            }
            Phase::OnceGet => Some(u64::from(self.onces[object].is_done())),
            Phase::SendRequest | Phase::SendTryPlace => {
                let Some(ticket) = self.channels[object].send_request(at) else {
                    thread.local.store(action, sent(Sent::Disconnected));
                    return Flow::Done;
                };
                self.messages[object].push(value(0));
                thread.ticket = Some(ticket);
                // Where nothing else follows, this is the result.
                plan.channels[object]
                    .capacity
                    .is_none()
                    .then_some(sent(Sent::Accepted))
            }
            Phase::SendWait => Some(sent(self.channels[object].sent(granted()))),
            Phase::SendTryResult => Some(sent(self.channels[object].resolve_send(granted()))),
            Phase::RendezvousTrySend => Some(sent(match self.channels[object].try_send(at) {
                Ok(_) => {
                    self.messages[object].push(value(0));
                    Sent::Accepted
                }
                Err(reason) => reason,
            })),
            Phase::ReceiveRequest | Phase::ReceiveTryPlace => {
                thread.ticket = Some(self.channels[object].receive_request(at));
                None
            }
            Phase::ReceiveWait => {
                let what = self.channels[object].received(granted());
                Some(received(what, &self.messages[object]))
            }
            Phase::ClosedCheck => {
                thread.flag = self.channels[object].is_hung_up();
                None
            }
            Phase::ReceiveTryResult => {
                let what = self.channels[object].resolve_receive(granted(), thread.flag);
                Some(received(what, &self.messages[object]))
            }
            Phase::RendezvousTryReceive => {
                let what = self.channels[object].try_receive(at, thread.flag);
                Some(received(what, &self.messages[object]))
            }
            Phase::SenderDrop => {
                thread.dropped.push(object);
                self.channels[object].drop_sender(at);
                None
            }
            Phase::ReceiverDrop => {
                thread.dropped.push(object);
                self.channels[object].drop_receiver(at);
                None
            }
            Phase::ParkRequest => {
                thread.park.request();
                None
            }
            Phase::ParkResolve => {
                let succeeds = thread.park.resolve();
                Some(u64::from(succeeds))
            }
            Phase::Unpark => {
                self.threads[object].park.unpark(at);
                return Flow::Next;
            }
            Phase::Spawn => {
                let child = &mut self.threads[object];
                child.status = Status::Running;
                child.last = Some(at);
                self.run_on(object);
                return Flow::Next;
            }
            Phase::IsFinished => {
                let finished = self.threads[object].status == Status::Finished;
                self.threads[number]
                    .local
                    .store(action, u64::from(finished));
                return Flow::Next;
            }
            Phase::End => unreachable!("the end is no part of an action"),
        };
        if let Some(result) = result {
            self.threads[number].local.store(action, result);
        }
        Flow::Next
    }
}

impl Thread {
    /// The place of a reader-writer lock that was taken last, and its index among the held ones.
    fn held(&self, lock: usize) -> (usize, Ticket) {
        let index = self.rwlocks.iter().rposition(|&(held, _)| held == lock);
        let index = index.expect("it holds the lock");
        (index, self.rwlocks[index].1)
    }

    /// Whether an action makes no sense here.
    fn skips(&self, action: &Action) -> bool {
        let holds = |mutex: usize| self.mutexes.iter().any(|&(held, _)| held == mutex);
        match action.verb {
            Verb::Unlock => !holds(action.objects[0]),
            Verb::Wait | Verb::TimedWait => !holds(action.objects[1]),
            Verb::Release => !self
                .rwlocks
                .iter()
                .any(|&(held, _)| held == action.objects[0]),
            Verb::Send
            | Verb::TrySend
            | Verb::TimedSend
            | Verb::Receive
            | Verb::TryReceive
            | Verb::TimedReceive
            | Verb::HangUp
            | Verb::Leave => self.dropped.contains(&action.objects[0]),
            _ => false,
        }
    }

    fn finish_action(&mut self) {
        self.phase = 0;
        self.ticket = None;
        self.flag = false;
        self.local.next += 1;
    }
}

fn sent(sent: Sent) -> u64 {
    match sent {
        Sent::Accepted => 0,
        Sent::Full => 1,
        Sent::Disconnected => 2,
    }
}

fn received(received: Received, messages: &[u64]) -> u64 {
    match received {
        Received::Message(send) => 10 + messages[send.index()],
        Received::Empty => 1,
        Received::Disconnected => 2,
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
            "there are not so many alternatives"
        );
        let mut edges = Vec::new();
        self.edges(number, &mut edges);
        let before = self.token(request.op);
        let spawns = (self.phase(number) == Phase::Spawn)
            .then(|| ThreadId::from_index(self.action(number).objects[0]));
        let thread = &mut self.threads[number];
        thread.events += 1;
        thread.last = Some(EventId::at(self.records.len()));
        self.records.push(Record {
            step,
            index: thread.events,
            alternatives: request.alternatives,
            op: request.op,
            before,
            after: before,
            edges,
            spawns,
        });
        self.perform(number, step.choice);
        let after = self.token(request.op);
        self.announce_all();
        self.records.last_mut().expect("it was just recorded").after = after;
        Ok(self.performed())
    }

    fn outcome(&self) -> Outcome {
        Outcome::of(&self.pending, |_| false)
    }
}
