//! The direct semantics of abstract programs: every blocking operation is one atomic step. It does
//! not use the `objects` crate. The split semantics must have the same final states, with the
//! exceptions in docs/book/src/algorithms.md, "Requests and waits".

mod moves;

use crate::code::{Code, Local, Stop};
use crate::machine::{Final, Place};
use crate::plan::Plan;
use crate::program::{Action, Program, Sort, Verb};
use moves::Moves;
use std::collections::{BTreeSet, HashSet, VecDeque};

/// Returns the possible ends of the program: final values and places of threads. Returns `None` if
/// the program has more than `limit` states.
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
    /// For each condition variable, the threads that wait and are not signalled.
    waiters: Vec<BTreeSet<usize>>,
    /// For each kind of object with an entry (see `entry`), the values of its objects.
    entries: Vec<Vec<usize>>,
    arrivals: Vec<usize>,
    onces: Vec<OnceState>,
    channels: Vec<Channel>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Thread {
    local: Local,
    status: Status,
    /// The progress of the thread within its action, where other threads can observe it.
    stage: Stage,
    mutexes: Vec<usize>,
    /// The reader-writer locks that the thread holds, with a flag that is true for a writer.
    rwlocks: Vec<(usize, bool)>,
    dropped: Vec<usize>,
    token: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Status {
    NotStarted,
    Running,
    /// The thread is about to end. This is a step, because other threads poll for the end.
    Ending,
    Assuming,
    Failed,
    Finished,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Stage {
    Start,
    /// Waits at a condition variable or at a rendezvous.
    Waiting,
    /// Waits for the mutex after it has been signalled.
    Relocking,
    /// Waits until this number of threads have arrived. The flag says whether the thread was the
    /// last of them.
    Arrived(usize, bool),
    /// Initializes a once: before (false) or after (true) its store.
    Initializing(bool),
    /// At a weak compare-exchange that will fail spuriously.
    Spurious,
    /// At a weak compare-exchange that will not fail spuriously.
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

impl State {
    fn new(plan: &Plan) -> State {
        let thread = |&is_root: &bool| Thread {
            local: Local::default(),
            status: if is_root {
                Status::Running
            } else {
                Status::NotStarted
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
            entries: plan.entries.clone(),
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
            Status::NotStarted => Place::NotStarted,
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

    fn take_mutex(&mut self, number: usize, mutex: usize) {
        self.mutexes[mutex] = Some(number);
        self.threads[number].mutexes.push(mutex);
    }

    fn free_mutex(&mut self, number: usize, mutex: usize) {
        self.mutexes[mutex] = None;
        self.threads[number].mutexes.retain(|&held| held != mutex);
    }

    /// Ends the action of a thread with this result.
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

    /// Adds the states to which a step of the thread can lead.
    fn moves(&self, plan: &Plan, number: usize, into: &mut Vec<State>) {
        match self.threads[number].status {
            Status::Running => {}
            Status::Ending => {
                let mut state = self.clone();
                state.threads[number].status = Status::Finished;
                return into.push(state);
            }
            Status::NotStarted | Status::Assuming | Status::Failed | Status::Finished => return,
        }
        let action = plan.codes[number].action(&self.threads[number].local);
        Moves::new(plan, number, action, self, into).add();
    }
}

impl Thread {
    /// Checks whether an action is meaningless here and skipped.
    fn skips(&self, action: &Action) -> bool {
        let sorts = action.verb.signature().sorts;
        let needs_mutex = matches!(action.verb, Verb::Unlock | Verb::Wait | Verb::TimedWait);
        let needs_lock = action.verb == Verb::Release;
        let needs_end = sorts.first() == Some(&Sort::Channel);
        let is_held = |&(held, _): &(usize, _)| held == action.objects[0];
        needs_mutex && !self.mutexes.contains(&action.object(Sort::Mutex))
            || needs_lock && !self.rwlocks.iter().any(is_held)
            || needs_end && self.dropped.contains(&action.objects[0])
    }
}
