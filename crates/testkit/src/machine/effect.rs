//! The effect of an event on its object and on the registers of its thread.

use super::{Flow, Machine, Status};
use crate::entry::{Kind, Step};
use crate::phase::{self, Phase, Wait};
use crate::program::{Action, Sort, Verb};
use explore::{EventId, ThreadId};
use objects::{Received, Sent};

/// An event that is being performed.
#[derive(Clone, Copy)]
pub(super) struct Event<'a> {
    pub(super) number: usize,
    pub(super) action: &'a Action,
    pub(super) choice: u32,
    pub(super) at: EventId,
}

impl Event<'_> {
    fn thread(self) -> ThreadId {
        ThreadId::from_index(self.number)
    }

    fn object(self) -> usize {
        self.action.objects[0]
    }
}

impl Machine {
    /// Performs the effect. Ends the action early if its further phases do not apply.
    pub(super) fn effect(&mut self, phase: Phase, event: Event<'_>) -> Flow {
        match phase {
            Phase::Variable(phase) => self.variable_effect(phase, event),
            Phase::Mutex(phase) => self.mutex_effect(phase, event),
            Phase::RwLock(phase) => self.rwlock_effect(phase, event),
            Phase::Condvar(phase) => self.condvar_effect(phase, event),
            Phase::Entry(kind, step) => self.entry_effect(kind, step, event),
            Phase::Once(phase) => self.once_effect(phase, event),
            Phase::Send(phase) => return self.send_effect(phase, event),
            Phase::Receive(phase) => self.receive_effect(phase, event),
            Phase::Park(phase) => self.park_effect(phase, event),
            Phase::Thread(phase) => self.thread_effect(phase, event),
            Phase::Wait(wait) => return self.wait_effect(wait, event),
            Phase::Arrive => {
                let ticket = self.barriers[event.object()].arrive(event.thread(), event.at);
                self.threads[event.number].ticket = Some(ticket);
            }
            Phase::MaybeSpurious => self.threads[event.number].flag = event.choice == 1,
            Phase::Choose => self.result(event, u64::from(event.choice)),
            Phase::Fence => {}
        }
        Flow::Next
    }

    fn result(&mut self, event: Event<'_>, result: u64) {
        self.threads[event.number].local.store(event.action, result);
    }

    fn value(&self, event: Event<'_>, index: usize) -> u64 {
        self.threads[event.number]
            .local
            .value(event.action.values[index])
    }

    fn variable_effect(&mut self, phase: phase::Variable, event: Event<'_>) {
        let variable = event.action.object(Sort::Variable);
        let old = self.variables[variable];
        match phase {
            phase::Variable::Load => self.result(event, old),
            phase::Variable::Store | phase::Variable::Initialize => {
                self.variables[variable] = self.value(event, 0);
            }
            phase::Variable::FetchAdd => {
                self.variables[variable] = old.wrapping_add(self.value(event, 0));
                self.result(event, old);
            }
            phase::Variable::Swap => {
                self.variables[variable] = self.value(event, 0);
                self.result(event, old);
            }
            phase::Variable::CompareExchange => {
                let is_spurious = self.threads[event.number].flag;
                let succeeds = old == self.value(event, 0) && !is_spurious;
                if succeeds {
                    self.variables[variable] = self.value(event, 1);
                }
                let is_weak = event.action.verb == Verb::WeakCompareExchange;
                self.result(event, if is_weak { u64::from(succeeds) } else { old });
            }
        }
    }

    fn mutex_effect(&mut self, phase: phase::Mutex, event: Event<'_>) {
        let number = event.action.object(Sort::Mutex);
        let mutex = &mut self.mutexes[number];
        let thread = &mut self.threads[event.number];
        match phase {
            phase::Mutex::Request | phase::Mutex::TryPlace => {
                thread.ticket = Some(mutex.request(event.thread()));
            }
            phase::Mutex::Unlock => {
                let held = thread.mutexes.iter().rposition(|&(held, _)| held == number);
                let held = held.expect("the action is skipped where the mutex is not held");
                let (_, ticket) = thread.mutexes.remove(held);
                mutex.unlock(ticket, event.at);
            }
            phase::Mutex::TryResult => {
                let ticket = thread.ticket();
                let succeeds = mutex.resolve(ticket);
                if succeeds {
                    thread.mutexes.push((number, ticket));
                }
                self.result(event, u64::from(succeeds));
            }
        }
    }

    fn rwlock_effect(&mut self, phase: phase::RwLock, event: Event<'_>) {
        let lock = &mut self.rwlocks[event.object()];
        let thread = &mut self.threads[event.number];
        let tried = match phase {
            phase::RwLock::ReadRequest => {
                thread.ticket = Some(lock.read_request(event.thread()));
                return;
            }
            phase::RwLock::WriteRequest => {
                thread.ticket = Some(lock.write_request(event.thread()));
                return;
            }
            phase::RwLock::Release => {
                let (index, ticket) = thread.held(event.object());
                thread.rwlocks.remove(index);
                lock.release(ticket, event.at);
                return;
            }
            phase::RwLock::TryRead => lock.try_read(event.thread()),
            phase::RwLock::TryWrite => lock.try_write(event.thread()),
        };
        thread
            .rwlocks
            .extend(tried.map(|ticket| (event.object(), ticket)));
        self.result(event, u64::from(tried.is_some()));
    }

    fn condvar_effect(&mut self, phase: phase::Condvar, event: Event<'_>) {
        let condvar = &mut self.condvars[event.object()];
        let thread = &mut self.threads[event.number];
        match phase {
            phase::Condvar::Enqueue => thread.ticket = Some(condvar.enqueue(event.thread())),
            phase::Condvar::Resolve => {
                let is_signalled = condvar.resolve(thread.ticket());
                self.result(event, u64::from(is_signalled));
            }
            phase::Condvar::Signal => {
                condvar.signal(event.choice, event.at);
            }
            phase::Condvar::Broadcast => condvar.broadcast(event.at),
        }
    }

    fn entry_effect(&mut self, kind: Kind, step: Step, event: Event<'_>) {
        let place = &mut self.threads[event.number].ticket;
        let object = &mut self.entries[kind as usize][event.object()];
        if let Some(result) = object.perform(step, place, event.at) {
            self.result(event, result);
        }
    }

    fn once_effect(&mut self, phase: phase::Once, event: Event<'_>) {
        let once = &mut self.onces[event.object()];
        match phase {
            phase::Once::Enter => {
                self.threads[event.number].ticket = Some(once.enter(event.thread()));
            }
            phase::Once::Done => once.finish(event.at),
            phase::Once::Fail => once.fail(event.at),
            phase::Once::Get => {
                let is_done = once.is_done();
                self.result(event, u64::from(is_done));
            }
        }
    }

    fn send_effect(&mut self, phase: phase::Send, event: Event<'_>) -> Flow {
        let message = event.action.values.first().map(|_| self.value(event, 0));
        let channel = &mut self.channels[event.object()];
        let thread = &mut self.threads[event.number];
        let result = match phase {
            phase::Send::Request | phase::Send::TryPlace => {
                thread.ticket = channel.send_request(event.at);
                if thread.ticket.is_none() {
                    self.result(event, sent(Sent::Disconnected));
                    return Flow::Done;
                }
                self.messages[event.object()].extend(message);
                // This is the result of the action if no further phase follows.
                match self.plan.channels[event.object()].bound {
                    None => Sent::Accepted,
                    Some(_) => return Flow::Next,
                }
            }
            phase::Send::TryResult => channel.resolve_send(thread.ticket()),
            phase::Send::RendezvousTry => match channel.try_send(event.at) {
                Ok(_) => {
                    self.messages[event.object()].extend(message);
                    Sent::Accepted
                }
                Err(reason) => reason,
            },
            phase::Send::Drop => {
                thread.dropped.push(event.object());
                channel.drop_sender(event.at);
                return Flow::Next;
            }
        };
        self.result(event, sent(result));
        Flow::Next
    }

    fn receive_effect(&mut self, phase: phase::Receive, event: Event<'_>) {
        let channel = &mut self.channels[event.object()];
        let thread = &mut self.threads[event.number];
        let result = match phase {
            phase::Receive::Request | phase::Receive::TryPlace => {
                thread.ticket = Some(channel.receive_request(event.at));
                return;
            }
            phase::Receive::ClosedCheck => {
                thread.flag = channel.is_disconnected();
                return;
            }
            phase::Receive::Drop => {
                thread.dropped.push(event.object());
                channel.drop_receiver(event.at);
                return;
            }
            phase::Receive::TryResult => channel.resolve_receive(thread.ticket(), thread.flag),
            phase::Receive::RendezvousTry => channel.try_receive(event.at, thread.flag),
        };
        let result = received(result, &self.messages[event.object()]);
        self.result(event, result);
    }

    fn park_effect(&mut self, phase: phase::Park, event: Event<'_>) {
        match phase {
            phase::Park::Request => self.threads[event.number].park.request(),
            phase::Park::Resolve => {
                let succeeds = self.threads[event.number].park.resolve();
                self.result(event, u64::from(succeeds));
            }
            phase::Park::Unpark => self.threads[event.object()].park.unpark(event.at),
        }
    }

    fn thread_effect(&mut self, phase: phase::Thread, event: Event<'_>) {
        match phase {
            phase::Thread::Spawn => {
                let child = &mut self.threads[event.object()];
                child.status = Status::Running;
                child.last = Some(event.at);
                self.run_on(event.object());
            }
            phase::Thread::IsFinished => {
                let is_finished = self.threads[event.object()].status == Status::Finished;
                self.result(event, u64::from(is_finished));
            }
            phase::Thread::End => unreachable!("the end is no part of an action"),
        }
    }

    fn wait_effect(&mut self, wait: Wait, event: Event<'_>) -> Flow {
        let thread = &mut self.threads[event.number];
        match wait {
            Wait::Mutex => {
                let mutex = event.action.object(Sort::Mutex);
                thread.mutexes.push((mutex, thread.ticket()));
            }
            Wait::Read | Wait::Write => thread.rwlocks.push((event.object(), thread.ticket())),
            Wait::Barrier => {
                if event.action.verb == Verb::Lead {
                    let leads = self.barriers[event.object()].is_leader(thread.ticket());
                    self.result(event, u64::from(leads));
                }
            }
            Wait::Once => {
                if !self.onces[event.object()].is_initializer(thread.ticket()) {
                    return Flow::Done;
                }
            }
            Wait::Send => {
                let result = self.channels[event.object()].sent(thread.ticket());
                self.result(event, sent(result));
            }
            Wait::Receive => {
                let result = self.channels[event.object()].received(thread.ticket());
                let result = received(result, &self.messages[event.object()]);
                self.result(event, result);
            }
            Wait::Signalled | Wait::Entry(_) | Wait::Park | Wait::Join => {}
        }
        Flow::Next
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
