//! Runs programs in every interleaving, naively: stores each reachable state and tries each enabled
//! thread.

mod compile;
mod order;
mod step;

use super::{CProgram, REGION, REGISTERS};
use compile::Code;
use order::Order;
use std::collections::{BTreeSet, HashSet};

/// The possible behaviour of a program.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Behaviour {
    /// The outcomes of executions that end: see [`outcome`].
    pub outcomes: BTreeSet<String>,
    /// Whether an execution ends with threads that wait or spin forever.
    pub has_deadlock: bool,
    /// Whether an execution has a data race.
    pub has_race: bool,
    /// Whether an execution destroys an object while other threads use it or could use it.
    pub has_race_of_objects: bool,
    /// Whether an execution can continue only because a timed operation expires. (All deadlines are
    /// in the year 2100.)
    pub waits_for_time: bool,
    /// The number of states.
    pub states: usize,
}

/// Returns the behaviour of the program, or `None` if the program has more than `most` states.
/// Condition variables wake each thread without a signal at most `spurious` times.
pub fn behaviour(program: &CProgram, most: usize, spurious: u8) -> Option<Behaviour> {
    let code = Code::of(program);
    let mut found = Behaviour::default();
    let visit = |state: &State, ends: Ends| {
        found.has_race |= code.races(state);
        found.has_race_of_objects |= code.renews && code.has_race_of_objects(state);
        match ends {
            Ends::Continues => {}
            Ends::WaitsForTime => found.waits_for_time = true,
            Ends::Done => {
                found.outcomes.insert(state.outcome());
            }
            Ends::Stuck => found.has_deadlock = true,
        }
    };
    let mut start = code.start();
    for thread in &mut start.threads {
        thread.spurious = spurious;
    }
    found.states = explore(&code, start, most, visit)?;
    Some(found)
}

/// Checks whether an execution has conflicting accesses that C11's happens-before does not order,
/// even if they are not adjacent. With `only_objects`, counts only races with the destruction or
/// initialization of objects. Returns `None` if there are more than `most` states and no such
/// accesses are found among them.
pub fn has_unordered_accesses(program: &CProgram, only_objects: bool, most: usize) -> Option<bool> {
    let code = Code::of(program);
    let order = Order::new(program.threads.len(), program.regions.len() * REGION);
    let mut found = false;
    let races = |order: &Order| order.has_race_of_objects || order.has_race && !only_objects;
    let visit = |state: &State, _| found |= state.order.as_deref().is_some_and(races);
    let states = explore(&code, code.start_with(Some(order)), most, visit);
    (found || states.is_some()).then_some(found)
}

/// How an execution continues from a state.
enum Ends {
    Continues,
    WaitsForTime,
    Stuck,
    Done,
}

/// Passes each reachable state to `visit` once. Returns the number of states, or `None` if it
/// exceeds `most`.
fn explore(
    code: &Code,
    start: State,
    most: usize,
    mut visit: impl FnMut(&State, Ends),
) -> Option<usize> {
    let mut seen = HashSet::from([start.clone()]);
    let mut rest = vec![start];
    while let Some(state) = rest.pop() {
        let (mut is_stuck, mut is_late) = (true, true);
        for thread in 0..state.threads.len() {
            for next in code.steps(&state, thread) {
                // A wakeup without a signal may never come, so it does not count as progress.
                is_stuck &= code.waits_for_signal(&state, thread);
                is_late &= code.expires(&state, thread);
                if seen.contains(&next) {
                    continue;
                }
                if seen.len() >= most {
                    return None;
                }
                seen.insert(next.clone());
                rest.push(next);
            }
        }
        let is_over = |thread: &ThreadState| thread.phase != Phase::Runs;
        visit(
            &state,
            match (is_stuck, is_late) {
                (true, _) if state.threads.iter().all(is_over) => Ends::Done,
                (true, _) => Ends::Stuck,
                (false, true) => Ends::WaitsForTime,
                (false, false) => Ends::Continues,
            },
        );
    }
    Some(seen.len())
}

/// A state of a program.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct State {
    memory: Vec<u8>,
    /// Whether each mutex is held.
    mutexes: Vec<bool>,
    rwlocks: Vec<RwLock>,
    /// Threads that wait for each condition variable and are not signalled.
    condvars: Vec<Vec<u8>>,
    semaphores: Vec<u32>,
    barriers: Vec<Barrier>,
    onces: Vec<Once>,
    threads: Vec<ThreadState>,
    /// Threads that wait at futexes, each with the first byte of the futex, in the order in which
    /// they began to wait.
    sleeping: Vec<(usize, u8)>,
    /// The happens-before order, if it is needed.
    order: Option<Box<Order>>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct RwLock {
    readers: u8,
    is_written: bool,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Barrier {
    arrived: u32,
    rounds: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Once {
    New,
    Runs,
    Done,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Phase {
    NotStarted,
    Runs,
    Ended,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct ThreadState {
    at: usize,
    phase: Phase,
    registers: [u64; REGISTERS],
    /// In a compare-exchange, first the expected value, then the value found.
    temporary: u128,
    /// How often the thread can still wake without a signal.
    spurious: u8,
    /// Whether the thread has done a failed round of a poll since another thread last did something
    /// other than polling.
    rests: bool,
    /// The round of a barrier that the thread waits for, or the size of a failed compare-exchange.
    round: u32,
}

impl State {
    fn outcome(&self) -> String {
        let registers = self.threads.iter().flat_map(|thread| thread.registers);
        let memory = self
            .memory
            .chunks(8)
            .map(|word| u64::from_le_bytes(word.try_into().expect("a region is made of words")));
        outcome(registers.chain(memory))
    }
}

/// Returns an outcome as text: the registers of all threads, then the words of all regions.
pub fn outcome(words: impl Iterator<Item = u64>) -> String {
    let words: Vec<String> = words.map(|word| word.to_string()).collect();
    words.join(" ")
}

/// Returns the number of words of an outcome.
pub fn words(program: &CProgram) -> usize {
    program.threads.len() * REGISTERS + program.regions.len() * REGION / 8
}
