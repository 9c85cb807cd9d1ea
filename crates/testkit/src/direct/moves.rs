//! The atomic steps of one thread in one state.

use super::{OnceState, Stage, State, Status, Thread};
use crate::entry::Act;
use crate::plan::Plan;
use crate::program::{Action, Sort, Verb};

/// The steps of one thread in one state.
pub(super) struct Moves<'a> {
    plan: &'a Plan,
    number: usize,
    action: &'a Action,
    from: &'a State,
    into: &'a mut Vec<State>,
}

const ACCEPTED: u64 = 0;
const FULL: u64 = 1;
const NO_RECEIVER: u64 = 2;
const EMPTY: u64 = 1;
const NO_SENDER: u64 = 2;
const MESSAGE: u64 = 10;

/// What an operation does if it cannot be performed at once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Patience {
    /// Waits until the operation can be performed.
    Waits,
    /// Gives up at once.
    Tries,
    /// Waits until the operation can be performed, but may give up at any time. Others may see it
    /// wait.
    Expires,
}

impl<'a> Moves<'a> {
    pub(super) fn new(
        plan: &'a Plan,
        number: usize,
        action: &'a Action,
        from: &'a State,
        into: &'a mut Vec<State>,
    ) -> Moves<'a> {
        Moves {
            plan,
            number,
            action,
            from,
            into,
        }
    }

    /// Adds the states to which these steps lead.
    pub(super) fn add(&mut self) {
        match self.action.verb {
            Verb::Load => self.modify(|old| old),
            Verb::Store => self.store(),
            Verb::FetchAdd => {
                let more = self.value(0);
                self.modify(|old| old.wrapping_add(more));
            }
            Verb::Swap => {
                let new = self.value(0);
                self.modify(|_| new);
            }
            Verb::CompareExchange => {
                let (expected, new) = (self.value(0), self.value(1));
                self.modify(|old| if old == expected { new } else { old });
            }
            Verb::WeakCompareExchange => self.weak_compare_exchange(),
            Verb::Fence | Verb::Let | Verb::Yield => self.ends(|_| {}),
            Verb::Choose => {
                (0..self.value(0).max(1)).for_each(|choice| self.ends_with(choice, |_| {}));
            }
            Verb::Lock => self.lock(Patience::Waits),
            Verb::TryLock => self.lock(Patience::Tries),
            Verb::Unlock => self.unlock(),
            Verb::ReadLock => self.read_lock(Patience::Waits),
            Verb::TryRead => self.read_lock(Patience::Tries),
            Verb::WriteLock => self.write_lock(Patience::Waits),
            Verb::TryWrite => self.write_lock(Patience::Tries),
            Verb::Release => self.release(),
            Verb::Wait => self.wait(Patience::Waits),
            Verb::TimedWait => self.wait(Patience::Expires),
            Verb::Signal => self.signal(),
            Verb::Broadcast => {
                let condvar = self.object();
                self.ends(|state| state.waiters[condvar].clear());
            }
            Verb::Act(act) => self.act(act),
            Verb::Arrive | Verb::Lead => self.arrive(),
            Verb::Once => self.once(),
            Verb::FailOnce => self.fail_once(),
            Verb::Get => {
                let is_done = self.from.onces[self.object()] == OnceState::Done;
                self.ends_with(u64::from(is_done), |_| {});
            }
            Verb::Send => self.send(Patience::Waits),
            Verb::TrySend => self.send(Patience::Tries),
            Verb::TimedSend => self.send(Patience::Expires),
            Verb::Receive => self.receive(Patience::Waits),
            Verb::TryReceive => self.receive(Patience::Tries),
            Verb::TimedReceive => self.receive(Patience::Expires),
            Verb::HangUp => self.drop_end(|channel| channel.senders -= 1),
            Verb::Leave => self.drop_end(|channel| channel.has_receiver = false),
            Verb::Park => self.park(Patience::Waits),
            Verb::TimedPark => self.park(Patience::Expires),
            Verb::Unpark => {
                let target = self.object();
                self.ends(|state| state.threads[target].token = true);
            }
            Verb::Spawn => self.spawn(),
            Verb::Join if self.is_finished() => self.ends(|_| {}),
            Verb::Join => {}
            Verb::Ended => self.ends_with(u64::from(self.is_finished()), |_| {}),
        }
    }

    fn thread(&self) -> &Thread {
        &self.from.threads[self.number]
    }

    fn object(&self) -> usize {
        self.action.objects[0]
    }

    fn value(&self, index: usize) -> u64 {
        self.thread().local.value(self.action.values[index])
    }

    /// Adds a step that ends the action with a result.
    fn ends_with(&mut self, result: u64, change: impl FnOnce(&mut State)) {
        let mut state = self.from.clone();
        change(&mut state);
        state.over(self.plan, self.number, Some(result));
        self.into.push(state);
    }

    /// Adds a step that ends the action without a result.
    fn ends(&mut self, change: impl FnOnce(&mut State)) {
        let mut state = self.from.clone();
        change(&mut state);
        state.over(self.plan, self.number, None);
        self.into.push(state);
    }

    /// Adds a step within the action.
    fn continues(&mut self, stage: Stage, change: impl FnOnce(&mut State)) {
        let mut state = self.from.clone();
        change(&mut state);
        state.threads[self.number].stage = stage;
        self.into.push(state);
    }

    fn store(&mut self) {
        let (variable, new) = (self.object(), self.value(0));
        self.ends(|state| state.variables[variable] = new);
    }

    /// Changes the variable. The result is the old value.
    fn modify(&mut self, change: impl FnOnce(u64) -> u64) {
        let variable = self.object();
        let old = self.from.variables[variable];
        let new = change(old);
        self.ends_with(old, |state| state.variables[variable] = new);
    }

    fn weak_compare_exchange(&mut self) {
        let (variable, new) = (self.object(), self.value(1));
        let is_expected = self.from.variables[variable] == self.value(0);
        match self.thread().stage {
            Stage::Genuine if is_expected => {
                self.ends_with(1, |state| state.variables[variable] = new);
            }
            Stage::Genuine | Stage::Spurious => self.ends_with(0, |_| {}),
            Stage::Start
            | Stage::Waiting
            | Stage::Relocking
            | Stage::Arrived(..)
            | Stage::Initializing(_) => {
                self.continues(Stage::Genuine, |_| {});
                self.continues(Stage::Spurious, |_| {});
            }
        }
    }

    /// Performs `take` with the result 1 if `can` is true. Otherwise adds no step if the thread
    /// waits, and a failure with the result 0 if it does not.
    fn takes(&mut self, patience: Patience, can: bool, take: impl FnOnce(&mut State)) {
        if can {
            self.ends_with(1, take);
        } else if patience != Patience::Waits {
            self.ends_with(0, |_| {});
        }
    }

    fn lock(&mut self, patience: Patience) {
        let (number, mutex) = (self.number, self.object());
        self.takes(patience, self.from.mutexes[mutex].is_none(), |state| {
            state.take_mutex(number, mutex);
        });
    }

    fn unlock(&mut self) {
        let (number, mutex) = (self.number, self.object());
        self.ends(|state| state.free_mutex(number, mutex));
    }

    fn read_lock(&mut self, patience: Patience) {
        let (number, lock) = (self.number, self.object());
        self.takes(patience, !self.from.rwlocks[lock].writer, |state| {
            state.rwlocks[lock].readers += 1;
            state.threads[number].rwlocks.push((lock, false));
        });
    }

    fn write_lock(&mut self, patience: Patience) {
        let (number, lock) = (self.number, self.object());
        let held = &self.from.rwlocks[lock];
        self.takes(patience, !held.writer && held.readers == 0, |state| {
            state.rwlocks[lock].writer = true;
            state.threads[number].rwlocks.push((lock, true));
        });
    }

    fn release(&mut self) {
        let (number, lock) = (self.number, self.object());
        self.ends(|state| {
            let held = &mut state.threads[number].rwlocks;
            let last = held.iter().rposition(|&(held, _)| held == lock);
            let last = last.expect("the action is skipped where the lock is not held");
            match held.remove(last).1 {
                true => state.rwlocks[lock].writer = false,
                false => state.rwlocks[lock].readers -= 1,
            }
        });
    }

    fn wait(&mut self, patience: Patience) {
        let (number, condvar) = (self.number, self.object());
        let mutex = self.action.object(Sort::Mutex);
        let is_waiting = self.from.waiters[condvar].contains(&number);
        match self.thread().stage {
            Stage::Waiting if patience == Patience::Expires => {
                let action = self.action;
                self.continues(Stage::Relocking, |state| {
                    state.waiters[condvar].remove(&number);
                    state.threads[number]
                        .local
                        .store(action, u64::from(!is_waiting));
                });
            }
            Stage::Waiting if is_waiting => {}
            Stage::Waiting => self.continues(Stage::Relocking, |_| {}),
            Stage::Relocking if self.from.mutexes[mutex].is_some() => {}
            Stage::Relocking => self.ends(|state| state.take_mutex(number, mutex)),
            Stage::Start
            | Stage::Arrived(..)
            | Stage::Initializing(_)
            | Stage::Spurious
            | Stage::Genuine => self.continues(Stage::Waiting, |state| {
                state.waiters[condvar].insert(number);
                state.free_mutex(number, mutex);
            }),
        }
    }

    fn signal(&mut self) {
        let condvar = self.object();
        if self.from.waiters[condvar].is_empty() {
            self.ends(|_| {});
        }
        for &waiter in &self.from.waiters[condvar] {
            self.ends(|state| {
                state.waiters[condvar].remove(&waiter);
            });
        }
    }

    fn act(&mut self, act: Act) {
        let (kind, object) = (act.kind() as usize, self.object());
        let mut value = self.from.entries[kind][object];
        if let Some(result) = act.perform(&mut value) {
            self.ends_with(result, |state| state.entries[kind][object] = value);
        }
    }

    fn arrive(&mut self) {
        let barrier = self.object();
        if let Stage::Arrived(needed, leads) = self.thread().stage {
            if self.from.arrivals[barrier] >= needed {
                self.ends_with(u64::from(leads), |_| {});
            }
            return;
        }
        let places = self.plan.barriers[barrier].places.max(1);
        let arrived = self.from.arrivals[barrier] + 1;
        let needed = arrived.div_ceil(places) * places;
        self.continues(Stage::Arrived(needed, arrived == needed), |state| {
            state.arrivals[barrier] = arrived;
        });
    }

    fn once(&mut self) {
        let once = self.object();
        match self.thread().stage {
            Stage::Initializing(true) => self.ends(|state| state.onces[once] = OnceState::Done),
            Stage::Initializing(false) => {
                let (variable, value) = (self.action.object(Sort::Variable), self.value(0));
                self.continues(Stage::Initializing(true), |state| {
                    state.variables[variable] = value;
                });
            }
            Stage::Start
            | Stage::Waiting
            | Stage::Relocking
            | Stage::Arrived(..)
            | Stage::Spurious
            | Stage::Genuine => self.enter_once(),
        }
    }

    fn fail_once(&mut self) {
        let once = self.object();
        match self.thread().stage {
            Stage::Initializing(_) => self.ends(|state| state.onces[once] = OnceState::New),
            Stage::Start
            | Stage::Waiting
            | Stage::Relocking
            | Stage::Arrived(..)
            | Stage::Spurious
            | Stage::Genuine => self.enter_once(),
        }
    }

    fn enter_once(&mut self) {
        let once = self.object();
        match self.from.onces[once] {
            OnceState::New => self.continues(Stage::Initializing(false), |state| {
                state.onces[once] = OnceState::Running;
            }),
            OnceState::Running => {}
            OnceState::Done => self.ends(|_| {}),
        }
    }

    fn drop_end(&mut self, drop: impl FnOnce(&mut super::Channel)) {
        let (number, channel) = (self.number, self.object());
        self.ends(|state| {
            state.threads[number].dropped.push(channel);
            drop(&mut state.channels[channel]);
        });
    }

    fn send(&mut self, patience: Patience) {
        let (number, message) = (self.object(), self.value(0));
        let channel = &self.from.channels[number];
        let bound = self.plan.channels[number].bound;
        if !channel.has_receiver {
            self.ends_with(NO_RECEIVER, |_| {});
        } else if bound == Some(0) {
            self.offer(patience, message);
        } else if bound.is_none_or(|bound| channel.messages.len() < bound) {
            self.ends_with(ACCEPTED, |state| {
                state.channels[number].messages.push_back(message);
            });
        } else if patience != Patience::Waits {
            self.ends_with(FULL, |_| {});
        }
    }

    fn receive(&mut self, patience: Patience) {
        let number = self.object();
        let channel = &self.from.channels[number];
        if self.plan.channels[number].bound == Some(0) {
            self.accept(patience);
        } else if let Some(&message) = channel.messages.front() {
            self.ends_with(MESSAGE + message, |state| {
                state.channels[number].messages.pop_front();
            });
        } else if channel.senders == 0 {
            self.ends_with(NO_SENDER, |_| {});
        } else if patience != Patience::Waits {
            self.ends_with(EMPTY, |_| {});
        }
    }

    /// Sends at a rendezvous: waits for a receiver, or serves a waiting receiver.
    fn offer(&mut self, patience: Patience, message: u64) {
        let is_waiting = self.thread().stage == Stage::Waiting;
        match patience {
            Patience::Waits | Patience::Expires if !is_waiting => {
                self.continues(Stage::Waiting, |_| {});
            }
            Patience::Waits => {}
            Patience::Expires => self.ends_with(FULL, |_| {}),
            Patience::Tries => {
                let receivers = self.waiting(&[Verb::Receive, Verb::TimedReceive]);
                if receivers.is_empty() {
                    self.ends_with(FULL, |_| {});
                }
                let (plan, message) = (self.plan, Some(MESSAGE + message));
                for receiver in receivers {
                    self.ends_with(ACCEPTED, |state| state.over(plan, receiver, message));
                }
            }
        }
    }

    /// Receives at a rendezvous: waits, so that tries find a receiver, and accepts from a waiting
    /// sender.
    fn accept(&mut self, patience: Patience) {
        let is_waiting = self.thread().stage == Stage::Waiting;
        if patience != Patience::Tries && !is_waiting {
            return self.continues(Stage::Waiting, |_| {});
        }
        let plan = self.plan;
        let senders = self.waiting(&[Verb::Send, Verb::TimedSend]);
        for &sender in &senders {
            let offer = &self.from.threads[sender];
            let message = plan.codes[sender].action(&offer.local).values[0];
            let message = MESSAGE + offer.local.value(message);
            self.ends_with(message, |state| state.over(plan, sender, Some(ACCEPTED)));
        }
        if senders.is_empty() && self.from.channels[self.object()].senders == 0 {
            self.ends_with(NO_SENDER, |_| {});
        } else if patience == Patience::Expires || patience == Patience::Tries && senders.is_empty()
        {
            self.ends_with(EMPTY, |_| {});
        }
    }

    /// Returns the threads that wait at this rendezvous with one of the verbs.
    fn waiting(&self, verbs: &[Verb]) -> Vec<usize> {
        let waits = |&number: &usize| {
            let thread = &self.from.threads[number];
            thread.status == Status::Running && thread.stage == Stage::Waiting && {
                let action = self.plan.codes[number].action(&thread.local);
                verbs.contains(&action.verb) && action.objects[0] == self.object()
            }
        };
        (0..self.from.threads.len()).filter(waits).collect()
    }

    fn park(&mut self, patience: Patience) {
        let number = self.number;
        self.takes(patience, self.thread().token, |state| {
            state.threads[number].token = false;
        });
    }

    fn spawn(&mut self) {
        let (plan, target) = (self.plan, self.object());
        self.ends(|state| {
            state.threads[target].status = Status::Running;
            state.run_on(plan, target);
        });
    }

    fn is_finished(&self) -> bool {
        self.from.threads[self.object()].status == Status::Finished
    }
}
