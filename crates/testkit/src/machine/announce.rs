//! Announcements of threads: the operation, whether it is enabled, and its synchronization edges.

use super::{Machine, Status};
use crate::phase::{self, Phase, Wait};
use crate::program::Sort;
use explore::{Access, EventId, Halt, ObjectId, Op, OpKind, Pending, Request, ValueId};
use objects::{
    Barrier, Channel, Condvar, Form, Mutex, Object, Once, OnceWait, Park, RwLock, Thread,
};

impl Machine {
    pub(super) fn announce_all(&mut self) {
        let mut pending = std::mem::take(&mut self.pending);
        pending.clear();
        pending.extend((0..self.threads.len()).map(|number| self.announce(number)));
        self.pending = pending;
    }

    fn announce(&self, number: usize) -> Pending {
        match self.threads[number].status {
            Status::NotStarted => Pending::NotStarted,
            Status::Assuming => Pending::Halted(Halt::Assume),
            Status::Failed => Pending::Failed,
            Status::Finished => Pending::Finished,
            Status::Running | Status::Ending => {
                let request = self.request(number);
                let phase = self.phase(number);
                if let Phase::Wait(wait) = phase
                    && !self.is_granted(number, wait)
                {
                    return Pending::Waiting(request);
                }
                Pending::Enabled(request)
            }
        }
    }

    fn request(&self, number: usize) -> Request {
        let phase = self.phase(number);
        let thread = &self.threads[number];
        let begins = thread.status == Status::Running && thread.phase == 0;
        let mut request = Request {
            yields: begins && self.plan.codes[number].yields(&thread.local),
            ..Request::plain(self.op(number, phase))
        };
        if matches!(phase, Phase::Variable(_) | Phase::Fence) {
            let action = self.action(number);
            request.order = action.order;
            request.on_failure = action.on_failure;
            request.continues = self.is_c11;
        }
        let local = &self.threads[number].local;
        if phase == Phase::Variable(phase::Variable::CompareExchange) && !self.threads[number].flag
        {
            let action = self.action(number);
            let expects = Some(ValueId(local.value(action.values[0])));
            let mut request = Request { expects, ..request };
            let value = ValueId(self.variables[action.objects[0]]);
            request.op.access = request.access_at(value);
            return request;
        }
        if phase == Phase::Condvar(phase::Condvar::Signal) {
            let alternatives = self.condvars[self.object(number)].alternatives();
            return Request {
                alternatives,
                ..request
            };
        }
        if phase == Phase::Choose {
            let alternatives = local.value(self.action(number).values[0]).max(1) as u32;
            return Request {
                alternatives,
                ..request
            };
        }
        let alternatives = if phase == Phase::MaybeSpurious { 2 } else { 1 };
        Request {
            alternatives,
            ..request
        }
    }

    /// Returns the operation of a phase. A compare-exchange is announced as failing.
    fn op(&self, number: usize, phase: Phase) -> Op {
        let nothing = |kind| Op {
            kind,
            access: Access::None,
            object: ObjectId::NONE,
        };
        match phase {
            Phase::Fence => nothing(OpKind::Fence),
            Phase::MaybeSpurious | Phase::Choose => nothing(OpKind::Choose),
            Phase::Variable(phase) => self.variable_op(number, phase),
            Phase::Park(phase) => self.park_op(number, phase),
            Phase::Wait(Wait::Park) => self.on_park(number, Park::WAIT),
            Phase::Thread(phase::Thread::End) => {
                Thread::END.on(self.plan.object(Sort::Thread, number))
            }
            Phase::Thread(phase::Thread::Spawn) => self.on(number, Sort::Thread, Thread::SPAWN),
            Phase::Thread(phase::Thread::IsFinished) => {
                self.on(number, Sort::Thread, Thread::IS_FINISHED)
            }
            Phase::Mutex(phase) => self.on(number, Sort::Mutex, mutex_form(phase)),
            Phase::RwLock(phase) => self.on(number, Sort::RwLock, self.rwlock_form(number, phase)),
            Phase::Condvar(phase) => self.on(number, Sort::Condvar, condvar_form(phase)),
            Phase::Entry(kind, step) => self.on(number, Sort::Entry(kind), step.form()),
            Phase::Arrive => {
                let is_ordered = self.plan.barriers[self.object(number)].is_ordered;
                self.on(number, Sort::Barrier, Barrier::arrive_form(is_ordered))
            }
            Phase::Once(phase) => self.on(number, Sort::Once, once_form(phase)),
            Phase::Send(phase) => self.on(number, Sort::Channel, self.send_form(number, phase)),
            Phase::Receive(phase) => {
                self.on(number, Sort::Channel, self.receive_form(number, phase))
            }
            Phase::Wait(Wait::Mutex) => self.on(number, Sort::Mutex, Mutex::WAIT),
            Phase::Wait(Wait::Read) => self.on(number, Sort::RwLock, RwLock::READ_WAIT),
            Phase::Wait(Wait::Write) => self.on(number, Sort::RwLock, RwLock::WRITE_WAIT),
            Phase::Wait(Wait::Signalled) => self.on(number, Sort::Condvar, Condvar::WAIT),
            Phase::Wait(Wait::Entry(kind)) => self.on(number, Sort::Entry(kind), kind.wait()),
            Phase::Wait(Wait::Barrier) => self.on(number, Sort::Barrier, Barrier::WAIT),
            Phase::Wait(Wait::Once) => self.on(number, Sort::Once, Once::WAIT),
            Phase::Wait(Wait::Send) => self.on(number, Sort::Channel, Channel::SEND_WAIT),
            Phase::Wait(Wait::Receive) => self.on(number, Sort::Channel, Channel::RECEIVE_WAIT),
            Phase::Wait(Wait::Join) => self.on(number, Sort::Thread, Thread::JOIN),
        }
    }

    /// Returns the operation with this form on the object of this sort that the thread's action
    /// uses. A form is an operation without the concrete object.
    fn on(&self, number: usize, sort: Sort, form: Form) -> Op {
        form.on(self.plan.object(sort, self.action(number).object(sort)))
    }

    fn on_park(&self, owner: usize, form: Form) -> Op {
        form.on(self.plan.object(Sort::Thread, owner).part(Thread::PARTS))
    }

    fn park_op(&self, number: usize, phase: phase::Park) -> Op {
        match phase {
            phase::Park::Request => self.on_park(number, Park::REQUEST),
            phase::Park::Resolve => self.on_park(number, Park::RESOLVE),
            phase::Park::Unpark => self.on_park(self.object(number), Park::UNPARK),
        }
    }

    fn variable_op(&self, number: usize, phase: phase::Variable) -> Op {
        let (kind, access) = match phase {
            phase::Variable::Load => (OpKind::Load, Access::Read),
            phase::Variable::Store | phase::Variable::Initialize => (OpKind::Store, Access::Write),
            phase::Variable::FetchAdd | phase::Variable::Swap => {
                (OpKind::ReadModifyWrite, Access::Write)
            }
            phase::Variable::CompareExchange => (OpKind::CompareExchange, Access::Read),
        };
        let variable = self.action(number).object(Sort::Variable);
        let object = self.plan.object(Sort::Variable, variable);
        Op {
            kind,
            access,
            object,
        }
    }

    fn rwlock_form(&self, number: usize, phase: phase::RwLock) -> Form {
        let lock = self.object(number);
        let is_tried = self.plan.rwlocks[lock];
        match phase {
            phase::RwLock::ReadRequest => RwLock::READ_REQUEST,
            phase::RwLock::WriteRequest => RwLock::WRITE_REQUEST,
            phase::RwLock::TryRead => RwLock::try_read_form(false),
            phase::RwLock::TryWrite => RwLock::TRY_WRITE,
            phase::RwLock::Release => {
                let (_, ticket) = self.threads[number].held(lock);
                match self.rwlocks[lock].is_writer(ticket) {
                    true => RwLock::write_release(is_tried),
                    false => RwLock::read_release(is_tried),
                }
            }
        }
    }

    fn send_form(&self, number: usize, phase: phase::Send) -> Form {
        let channel = &self.plan.channels[self.object(number)];
        match phase {
            phase::Send::Request => Channel::SEND_REQUEST,
            phase::Send::TryPlace => Channel::SEND_TRY_PLACE,
            phase::Send::TryResult => Channel::send_try_result(channel.capacity()),
            phase::Send::RendezvousTry => Channel::RENDEZVOUS_TRY_SEND,
            phase::Send::Drop => Channel::sender_drop(channel.is_tried),
        }
    }

    fn receive_form(&self, number: usize, phase: phase::Receive) -> Form {
        let channel = &self.plan.channels[self.object(number)];
        let capacity = channel.capacity();
        match phase {
            phase::Receive::Request => Channel::receive_request_form(capacity, channel.is_tried),
            phase::Receive::ClosedCheck => Channel::CLOSED_CHECK,
            phase::Receive::TryPlace => Channel::receive_try_place(capacity),
            phase::Receive::TryResult => Channel::receive_try_result(capacity),
            phase::Receive::RendezvousTry => Channel::RENDEZVOUS_TRY_RECEIVE,
            phase::Receive::Drop => Channel::RECEIVER_DROP,
        }
    }

    /// Checks whether a wait is over.
    fn is_granted(&self, number: usize, wait: Wait) -> bool {
        let thread = &self.threads[number];
        let object = || self.object(number);
        match wait {
            Wait::Mutex => {
                let mutex = self.action(number).object(Sort::Mutex);
                self.mutexes[mutex].is_granted(thread.ticket())
            }
            Wait::Read | Wait::Write => self.rwlocks[object()].is_granted(thread.ticket()),
            Wait::Signalled => self.condvars[object()].is_granted(thread.ticket()),
            Wait::Entry(kind) => self.entries[kind as usize][object()].is_granted(thread.ticket),
            Wait::Barrier => self.barriers[object()].is_granted(thread.ticket()),
            Wait::Once => self.onces[object()].is_granted(OnceWait::Entry(thread.ticket())),
            Wait::Send => self.channels[object()].is_send_over(thread.ticket()),
            Wait::Receive => self.channels[object()].is_receive_over(thread.ticket()),
            Wait::Park => thread.park.is_granted(()),
            Wait::Join => self.threads[object()].status == Status::Finished,
        }
    }

    /// Returns the synchronization edges to the next event of a thread.
    pub(super) fn edges(&self, number: usize) -> Vec<EventId> {
        let thread = &self.threads[number];
        let mut edges = Vec::new();
        if thread.events == 0 {
            // This is the spawn, for a thread that does not exist from the start.
            edges.extend(thread.last);
        }
        if let Phase::Wait(wait) = self.phase(number) {
            self.edges_of_wait(number, wait, &mut edges);
        }
        edges
    }

    fn edges_of_wait(&self, number: usize, wait: Wait, edges: &mut Vec<EventId>) {
        let thread = &self.threads[number];
        let object = || self.object(number);
        match wait {
            Wait::Mutex => {
                let mutex = self.action(number).object(Sort::Mutex);
                self.mutexes[mutex].edges(thread.ticket(), edges);
            }
            Wait::Read | Wait::Write => self.rwlocks[object()].edges(thread.ticket(), edges),
            Wait::Signalled => self.condvars[object()].edges(thread.ticket(), edges),
            Wait::Entry(kind) => self.entries[kind as usize][object()].edges(thread.ticket, edges),
            Wait::Barrier => self.barriers[object()].edges(thread.ticket(), edges),
            Wait::Once => self.onces[object()].edges(OnceWait::Entry(thread.ticket()), edges),
            Wait::Send => self.channels[object()].send_edges(thread.ticket(), edges),
            Wait::Receive => self.channels[object()].receive_edges(thread.ticket(), edges),
            Wait::Park => thread.park.edges((), edges),
            Wait::Join => self.threads[object()].end.edges(edges),
        }
    }
}

fn mutex_form(phase: phase::Mutex) -> Form {
    match phase {
        phase::Mutex::Request => Mutex::REQUEST,
        phase::Mutex::Unlock => Mutex::UNLOCK,
        phase::Mutex::TryPlace => Mutex::TRY_PLACE,
        phase::Mutex::TryResult => Mutex::TRY_RESULT,
    }
}

fn condvar_form(phase: phase::Condvar) -> Form {
    match phase {
        phase::Condvar::Enqueue => Condvar::ENQUEUE,
        phase::Condvar::Resolve => Condvar::RESOLVE,
        phase::Condvar::Signal => Condvar::SIGNAL,
        phase::Condvar::Broadcast => Condvar::BROADCAST,
    }
}

fn once_form(phase: phase::Once) -> Form {
    match phase {
        phase::Once::Enter => Once::ENTER,
        phase::Once::Done | phase::Once::Fail => Once::DONE,
        phase::Once::Get => Once::GET,
    }
}
