//! The natural semantics of abstract programs: every blocking operation is one atomic step, without the
//! `objects` crate. Its final states are what the split semantics must have, too.

use crate::code::{Code, Local, Stop};
use crate::machine::{Final, Place};
use crate::plan::Plan;
use crate::program::{Action, Program, Sort, Verb};
use std::collections::{BTreeSet, HashSet, VecDeque};

/// All values and places that some interleaving of atomic steps ends with; none where there are more
/// than `limit` states.
pub fn finals(program: &Program, limit: usize) -> Option<BTreeSet<Final>> {
    let plan = Plan::new(program);
    let mut seen = HashSet::new();
    let mut work = vec![State::new(&plan)];
    let mut finals = BTreeSet::new();
    while let Some(state) = work.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        if seen.len() > limit {
            return None;
        }
        let mut successors = Vec::new();
        for number in 0..state.threads.len() {
            state.moves(&plan, number, &mut successors);
        }
        if successors.is_empty() {
            finals.insert(state.end(&plan));
        }
        work.append(&mut successors);
    }
    Some(finals)
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct State {
    threads: Vec<Thread>,
    variables: Vec<u64>,
    mutexes: Vec<Option<usize>>,
    rwlocks: Vec<RwLock>,
    /// Threads that wait at each condition variable, not signalled.
    waiters: Vec<BTreeSet<usize>>,
    permits: Vec<usize>,
    arrivals: Vec<usize>,
    onces: Vec<OnceState>,
    channels: Vec<Channel>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Thread {
    local: Local,
    status: Status,
    /// How far the thread is in its action, where that is visible to others.
    stage: Stage,
    mutexes: Vec<usize>,
    /// The reader-writer locks it holds, and whether as a writer.
    rwlocks: Vec<(usize, bool)>,
    dropped: Vec<usize>,
    token: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Status {
    Unborn,
    Running,
    /// Its end, which is polled, is still to come.
    Ending,
    Assuming,
    Failed,
    Finished,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Stage {
    Start,
    /// At a condition variable, or at a rendezvous.
    Waiting,
    /// Signalled, wants the mutex.
    Relocking,
    /// Waits until so many have arrived; whether it was the last of them.
    Arrived(usize, bool),
    /// Initialises a once: before or after its store.
    Initialising(bool),
    /// A weak compare-exchange that will fail.
    Spurious,
    /// A weak compare-exchange that will not fail without reason.
    Genuine,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct RwLock {
    writer: bool,
    readers: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum OnceState {
    New,
    Running,
    Done,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Channel {
    messages: VecDeque<u64>,
    senders: usize,
    has_receiver: bool,
}

const ACCEPTED: u64 = 0;
const FULL: u64 = 1;
const NO_RECEIVER: u64 = 2;
const EMPTY: u64 = 1;
const NO_SENDER: u64 = 2;
const MESSAGE: u64 = 10;

impl State {
    fn new(plan: &Plan) -> State {
        let thread = |&is_root: &bool| Thread {
            local: Local::default(),
            status: if is_root {
                Status::Running
            } else {
                Status::Unborn
            },
            stage: Stage::Start,
            mutexes: Vec::new(),
            rwlocks: Vec::new(),
            dropped: Vec::new(),
            token: false,
        };
        let mut state = State {
            threads: plan.is_root.iter().map(thread).collect(),
            variables: vec![0; plan.variables],
            mutexes: vec![None; plan.mutexes],
            rwlocks: vec![RwLock::default(); plan.rwlocks.len()],
            waiters: vec![BTreeSet::new(); plan.condvars],
            permits: plan.semaphores.clone(),
            arrivals: vec![0; plan.barriers.len()],
            onces: vec![OnceState::New; plan.onces],
            channels: plan
                .channels
                .iter()
                .map(|channel| Channel {
                    messages: VecDeque::new(),
                    senders: channel.senders,
                    has_receiver: true,
                })
                .collect(),
        };
        for number in 0..state.threads.len() {
            if plan.is_root[number] {
                state.run_on(plan, number);
            }
        }
        state
    }

    fn run_on(&mut self, plan: &Plan, number: usize) {
        let code: &Code = &plan.codes[number];
        let thread = &mut self.threads[number];
        loop {
            match code.run(&mut thread.local) {
                Stop::At(action) if thread.skips(action) => thread.local.next += 1,
                Stop::At(_) => return,
                Stop::AssumptionFails => return thread.status = Status::Assuming,
                Stop::AssertionFails => return thread.status = Status::Failed,
                Stop::End if plan.is_polled[number] => return thread.status = Status::Ending,
                Stop::End => return thread.status = Status::Finished,
            }
        }
    }

    fn end(&self, plan: &Plan) -> Final {
        let place = |number: usize, thread: &Thread| match thread.status {
            Status::Unborn => Place::Unborn,
            Status::Finished | Status::Ending => Place::Finished,
            Status::Failed => Place::Failed,
            Status::Assuming => Place::Assuming,
            Status::Running => {
                let verb = plan.codes[number].action(&thread.local).verb;
                Place::At {
                    instruction: thread.local.next,
                    for_signal: verb.signature().sorts.first() == Some(&Sort::Condvar)
                        && thread.stage == Stage::Waiting,
                }
            }
        };
        Final {
            variables: self.variables.clone(),
            threads: self
                .threads
                .iter()
                .enumerate()
                .map(|(number, thread)| (thread.local.registers.to_vec(), place(number, thread)))
                .collect(),
        }
    }

    /// The action of a thread is over, with this result.
    fn over(&mut self, plan: &Plan, number: usize, result: Option<u64>) {
        let thread = &mut self.threads[number];
        let action = plan.codes[number].action(&thread.local);
        if let Some(result) = result {
            thread.local.store(action, result);
        }
        thread.stage = Stage::Start;
        thread.local.next += 1;
        self.run_on(plan, number);
    }

    /// The states that a step of the thread leads to.
    fn moves(&self, plan: &Plan, number: usize, into: &mut Vec<State>) {
        match self.threads[number].status {
            Status::Running => {}
            Status::Ending => {
                let mut state = self.clone();
                state.threads[number].status = Status::Finished;
                return into.push(state);
            }
            Status::Unborn | Status::Assuming | Status::Failed | Status::Finished => return,
        }
        let action = plan.codes[number].action(&self.threads[number].local);
        let mut moves = Moves {
            plan,
            number,
            action,
            from: self,
            into,
        };
        match action.verb.signature().sorts.first() {
            Some(Sort::Channel) => moves.channel(),
            Some(Sort::Condvar) => moves.condvar(),
            Some(Sort::Mutex | Sort::RwLock) => moves.lock(),
            Some(Sort::Variable) => moves.variable(),
            Some(Sort::Semaphore | Sort::Barrier | Sort::Once | Sort::Thread) | None => {
                moves.other();
            }
        }
    }
}

/// The steps of one thread in one state.
struct Moves<'a> {
    plan: &'a Plan,
    number: usize,
    action: &'a Action,
    from: &'a State,
    into: &'a mut Vec<State>,
}

impl Moves<'_> {
    fn thread(&self) -> &Thread {
        &self.from.threads[self.number]
    }

    fn object(&self) -> usize {
        self.action.objects[0]
    }

    fn value(&self, index: usize) -> u64 {
        self.thread().local.value(self.action.values[index])
    }

    /// A step that ends the action with a result.
    fn ends_with(&mut self, result: u64, change: impl FnOnce(&mut State)) {
        let mut state = self.from.clone();
        change(&mut state);
        state.over(self.plan, self.number, Some(result));
        self.into.push(state);
    }

    /// A step that ends the action without a result.
    fn ends(&mut self, change: impl FnOnce(&mut State)) {
        let mut state = self.from.clone();
        change(&mut state);
        state.over(self.plan, self.number, None);
        self.into.push(state);
    }

    /// A step within the action.
    fn goes_on(&mut self, stage: Stage, change: impl FnOnce(&mut State)) {
        let mut state = self.from.clone();
        change(&mut state);
        state.threads[self.number].stage = stage;
        self.into.push(state);
    }

    fn variable(&mut self) {
        let variable = self.object();
        let old = self.from.variables[variable];
        let set = |value: u64| move |state: &mut State| state.variables[variable] = value;
        match self.action.verb {
            Verb::Load => self.ends_with(old, |_| {}),
            Verb::Store => self.ends(set(self.value(0))),
            Verb::FetchAdd => self.ends_with(old, set(old.wrapping_add(self.value(0)))),
            Verb::Swap => self.ends_with(old, set(self.value(0))),
            Verb::CompareExchange => {
                let new = if old == self.value(0) {
                    self.value(1)
                } else {
                    old
                };
                self.ends_with(old, set(new));
            }
            Verb::WeakCompareExchange => match self.thread().stage {
                Stage::Spurious => self.ends_with(0, |_| {}),
                Stage::Genuine if old == self.value(0) => self.ends_with(1, set(self.value(1))),
                Stage::Genuine => self.ends_with(0, |_| {}),
                _ => {
                    self.goes_on(Stage::Genuine, |_| {});
                    self.goes_on(Stage::Spurious, |_| {});
                }
            },
            _ => unreachable!("it is no action on a variable"),
        }
    }

    fn lock(&mut self) {
        let (number, object) = (self.number, self.object());
        let take = move |state: &mut State| {
            state.mutexes[object] = Some(number);
            state.threads[number].mutexes.push(object);
        };
        let read = move |state: &mut State| {
            state.rwlocks[object].readers += 1;
            state.threads[number].rwlocks.push((object, false));
        };
        let write = move |state: &mut State| {
            state.rwlocks[object].writer = true;
            state.threads[number].rwlocks.push((object, true));
        };
        let is_free = |state: &State| state.mutexes[object].is_none();
        let is_readable = |state: &State| !state.rwlocks[object].writer;
        let is_writable = |state: &State| is_readable(state) && state.rwlocks[object].readers == 0;
        match self.action.verb {
            Verb::Lock if is_free(self.from) => self.ends(take),
            Verb::TryLock if is_free(self.from) => self.ends_with(1, take),
            Verb::Unlock => self.ends(|state| {
                state.mutexes[object] = None;
                state.threads[number].mutexes.retain(|&held| held != object);
            }),
            Verb::ReadLock if is_readable(self.from) => self.ends(read),
            Verb::TryRead if is_readable(self.from) => self.ends_with(1, read),
            Verb::WriteLock if is_writable(self.from) => self.ends(write),
            Verb::TryWrite if is_writable(self.from) => self.ends_with(1, write),
            Verb::TryLock | Verb::TryRead | Verb::TryWrite => self.ends_with(0, |_| {}),
            Verb::Release => self.ends(|state| {
                let held = &mut state.threads[number].rwlocks;
                let last = held.iter().rposition(|&(lock, _)| lock == object);
                match held.remove(last.expect("it holds the lock")).1 {
                    true => state.rwlocks[object].writer = false,
                    false => state.rwlocks[object].readers -= 1,
                }
            }),
            _ => {}
        }
    }

    fn condvar(&mut self) {
        let (number, object) = (self.number, self.object());
        let is_timed = self.action.verb == Verb::TimedWait;
        let is_waiting = self.from.waiters[object].contains(&number);
        match (self.action.verb, self.thread().stage) {
            (Verb::Broadcast, _) => self.ends(|state| state.waiters[object].clear()),
            (Verb::Signal, _) => {
                if self.from.waiters[object].is_empty() {
                    self.ends(|_| {});
                }
                for &waiter in &self.from.waiters[object] {
                    self.ends(|state| {
                        state.waiters[object].remove(&waiter);
                    });
                }
            }
            (_, Stage::Start) => {
                let mutex = self.action.objects[1];
                self.goes_on(Stage::Waiting, |state| {
                    state.waiters[object].insert(number);
                    state.mutexes[mutex] = None;
                    state.threads[number].mutexes.retain(|&held| held != mutex);
                });
            }
            (_, Stage::Waiting) if is_timed => {
                let action = self.action;
                self.goes_on(Stage::Relocking, |state| {
                    state.waiters[object].remove(&number);
                    state.threads[number]
                        .local
                        .store(action, u64::from(!is_waiting));
                });
            }
            (_, Stage::Waiting) if !is_waiting => self.goes_on(Stage::Relocking, |_| {}),
            (_, Stage::Relocking) => {
                let mutex = self.action.objects[1];
                if self.from.mutexes[mutex].is_none() {
                    self.ends(|state| {
                        state.mutexes[mutex] = Some(number);
                        state.threads[number].mutexes.push(mutex);
                    });
                }
            }
            _ => {}
        }
    }

    fn channel(&mut self) {
        let (number, object) = (self.number, self.object());
        let channel = &self.from.channels[object];
        let capacity = self.plan.channels[object].capacity;
        let is_full = capacity.is_some_and(|bound| channel.messages.len() >= bound);
        let is_hung_up = channel.senders == 0;
        let drop = move |state: &mut State| state.threads[number].dropped.push(object);
        match self.action.verb {
            Verb::HangUp => self.ends(|state| {
                drop(state);
                state.channels[object].senders -= 1;
            }),
            Verb::Leave => self.ends(|state| {
                drop(state);
                state.channels[object].has_receiver = false;
            }),
            _ if capacity == Some(0) => self.rendezvous(),
            Verb::Send | Verb::TrySend | Verb::TimedSend => {
                let message = self.value(0);
                if !channel.has_receiver {
                    self.ends_with(NO_RECEIVER, |_| {});
                } else if !is_full {
                    self.ends_with(ACCEPTED, |state| {
                        state.channels[object].messages.push_back(message);
                    });
                } else if self.action.verb != Verb::Send {
                    self.ends_with(FULL, |_| {});
                }
            }
            Verb::Receive | Verb::TryReceive | Verb::TimedReceive => {
                if let Some(&message) = channel.messages.front() {
                    self.ends_with(MESSAGE + message, |state| {
                        state.channels[object].messages.pop_front();
                    });
                } else if is_hung_up {
                    self.ends_with(NO_SENDER, |_| {});
                } else if self.action.verb != Verb::Receive {
                    self.ends_with(EMPTY, |_| {});
                }
            }
            _ => unreachable!("it is no action on a channel"),
        }
    }

    /// Both sides announce that they wait; then a step of the receiver, or a try, lets two meet.
    fn rendezvous(&mut self) {
        let object = self.object();
        let channel = &self.from.channels[object];
        let is_hung_up = channel.senders == 0;
        let is_waiting = self.thread().stage == Stage::Waiting;
        let is_timed = matches!(self.action.verb, Verb::TimedSend | Verb::TimedReceive);
        match self.action.verb {
            Verb::Send | Verb::TrySend | Verb::TimedSend if !channel.has_receiver => {
                self.ends_with(NO_RECEIVER, |_| {});
            }
            Verb::Send | Verb::TimedSend if !is_waiting => self.goes_on(Stage::Waiting, |_| {}),
            Verb::Send => {}
            Verb::TimedSend => self.ends_with(FULL, |_| {}),
            Verb::TrySend => {
                let receivers = self.waiting(&[Verb::Receive, Verb::TimedReceive]);
                if receivers.is_empty() {
                    self.ends_with(FULL, |_| {});
                }
                let (plan, message) = (self.plan, MESSAGE + self.value(0));
                for receiver in receivers {
                    self.ends_with(ACCEPTED, |state| state.over(plan, receiver, Some(message)));
                }
            }
            Verb::Receive | Verb::TimedReceive if !is_waiting => {
                self.goes_on(Stage::Waiting, |_| {});
            }
            Verb::Receive | Verb::TimedReceive | Verb::TryReceive => {
                let plan = self.plan;
                let senders = self.waiting(&[Verb::Send, Verb::TimedSend]);
                for &sender in &senders {
                    let offer = &self.from.threads[sender];
                    let message = plan.codes[sender].action(&offer.local).values[0];
                    let message = MESSAGE + offer.local.value(message);
                    self.ends_with(message, |state| state.over(plan, sender, Some(ACCEPTED)));
                }
                if senders.is_empty() && is_hung_up {
                    self.ends_with(NO_SENDER, |_| {});
                } else if is_timed || senders.is_empty() && self.action.verb == Verb::TryReceive {
                    self.ends_with(EMPTY, |_| {});
                }
            }
            _ => unreachable!("it is no action on a rendezvous"),
        }
    }

    /// The threads that wait at this rendezvous with one of the verbs.
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

    fn other(&mut self) {
        let number = self.number;
        match (self.action.verb, self.thread().stage) {
            (Verb::Fence, _) => self.ends(|_| {}),
            (Verb::Choose, _) => {
                (0..self.value(0).max(1)).for_each(|choice| self.ends_with(choice, |_| {}));
            }
            (Verb::Park, _) if self.thread().token => {
                self.ends(|state| state.threads[number].token = false);
            }
            (Verb::TimedPark, _) => {
                let result = u64::from(self.thread().token);
                self.ends_with(result, |state| state.threads[number].token = false);
            }
            (Verb::Unpark, _) => {
                let target = self.object();
                self.ends(|state| state.threads[target].token = true);
            }
            (Verb::Spawn, _) => {
                let (plan, target) = (self.plan, self.object());
                self.ends(|state| {
                    state.threads[target].status = Status::Running;
                    state.run_on(plan, target);
                });
            }
            (Verb::Join, _) if self.is_finished() => self.ends(|_| {}),
            (Verb::Ended, _) => self.ends_with(u64::from(self.is_finished()), |_| {}),
            (Verb::Acquire | Verb::TryAcquire, _) if self.from.permits[self.object()] > 0 => {
                let object = self.object();
                self.ends_with(1, |state| state.permits[object] -= 1);
            }
            (Verb::TryAcquire, _) => self.ends_with(0, |_| {}),
            (Verb::Post, _) => {
                let object = self.object();
                self.ends(|state| state.permits[object] += 1);
            }
            (Verb::Arrive | Verb::Lead, Stage::Start) => {
                let object = self.object();
                let places = self.plan.barriers[object].places.max(1);
                let arrived = self.from.arrivals[object] + 1;
                let needed = arrived.div_ceil(places) * places;
                self.goes_on(Stage::Arrived(needed, arrived == needed), |state| {
                    state.arrivals[object] = arrived;
                });
            }
            (Verb::Arrive | Verb::Lead, Stage::Arrived(needed, leads)) => {
                if self.from.arrivals[self.object()] >= needed {
                    self.ends_with(u64::from(leads), |_| {});
                }
            }
            (Verb::Once | Verb::FailOnce, stage) => self.once(stage),
            (Verb::Get, _) => {
                let is_done = self.from.onces[self.object()] == OnceState::Done;
                self.ends_with(u64::from(is_done), |_| {});
            }
            _ => {}
        }
    }

    fn is_finished(&self) -> bool {
        self.from.threads[self.object()].status == Status::Finished
    }

    fn once(&mut self, stage: Stage) {
        let object = self.object();
        let fails = self.action.verb == Verb::FailOnce;
        match (stage, self.from.onces[object]) {
            (Stage::Initialising(_), _) if fails => {
                self.ends(|state| state.onces[object] = OnceState::New);
            }
            (Stage::Initialising(true), _) => {
                self.ends(|state| state.onces[object] = OnceState::Done);
            }
            (Stage::Initialising(false), _) => {
                let (variable, value) = (self.action.objects[1], self.value(0));
                self.goes_on(Stage::Initialising(true), |state| {
                    state.variables[variable] = value;
                });
            }
            (_, OnceState::New) => self.goes_on(Stage::Initialising(false), |state| {
                state.onces[object] = OnceState::Running;
            }),
            (_, OnceState::Running) => {}
            (_, OnceState::Done) => self.ends(|_| {}),
        }
    }
}

impl Thread {
    /// Whether an action makes no sense here.
    fn skips(&self, action: &Action) -> bool {
        match action.verb {
            Verb::Unlock => !self.mutexes.contains(&action.objects[0]),
            Verb::Wait | Verb::TimedWait => !self.mutexes.contains(&action.objects[1]),
            Verb::Release => !self
                .rwlocks
                .iter()
                .any(|&(held, _)| held == action.objects[0]),
            Verb::HangUp | Verb::Leave => self.dropped.contains(&action.objects[0]),
            Verb::Send | Verb::TrySend | Verb::TimedSend => {
                self.dropped.contains(&action.objects[0])
            }
            Verb::Receive | Verb::TryReceive | Verb::TimedReceive => {
                self.dropped.contains(&action.objects[0])
            }
            _ => false,
        }
    }
}
