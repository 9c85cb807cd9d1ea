//! Runs programs in every interleaving, naively: states are stored, and each enabled thread is tried in each.

mod compile;
mod order;
mod step;

use super::{CProgram, REGION, REGISTERS};
use compile::Code;
use order::Order;
use std::collections::{BTreeSet, HashSet};

/// What a program can do.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Behaviour {
    /// The outcomes of executions that end: see [`outcome`].
    pub outcomes: BTreeSet<String>,
    /// Whether some execution ends with threads that wait or spin for ever.
    pub has_deadlock: bool,
    /// Whether some execution has a data race.
    pub has_race: bool,
    /// Whether some execution destroys an object while others use it, or may do so at the same time.
    pub has_race_of_objects: bool,
    /// Whether some execution can only go on because a timed operation expires, which takes until the year 2100.
    pub waits_for_time: bool,
    /// How many states there are.
    pub states: usize,
}

/// Everything that a program may do; none if it has more states than this. Condition variables wake each thread
/// without a signal at most as often as given.
pub fn behaviour(program: &CProgram, most: usize, spurious: u8) -> Option<Behaviour> {
    let code = Code::of(program);
    let mut found = Behaviour::default();
    let look = |state: &State, ends: Ends| {
        found.has_race |= code.races(state);
        found.has_race_of_objects |= code.renews && code.has_race_of_objects(state);
        match ends {
            Ends::GoesOn => {}
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
    found.states = explore(&code, start, most, look)?;
    Some(found)
}

/// Whether some execution has accesses that race by C11's happens-before, next to each other or not, or only such that destroy or
/// initialise objects; none if this takes more states.
pub fn has_unordered_accesses(program: &CProgram, only_objects: bool, most: usize) -> Option<bool> {
    let code = Code::of(program);
    let order = Order::new(program.threads.len(), program.regions.len() * REGION);
    let mut found = false;
    let races = |order: &Order| order.has_race_of_objects || order.has_race && !only_objects;
    let look = |state: &State, _| found |= state.order.as_deref().is_some_and(races);
    let states = explore(&code, code.start_with(Some(order)), most, look);
    (found || states.is_some()).then_some(found)
}

/// How a state goes on.
enum Ends {
    GoesOn,
    WaitsForTime,
    Stuck,
    Done,
}

/// Shows each state once; how many there are, unless these are too many.
fn explore(
    code: &Code,
    start: State,
    most: usize,
    mut look: impl FnMut(&State, Ends),
) -> Option<usize> {
    let mut seen = HashSet::from([start.clone()]);
    let mut rest = vec![start];
    while let Some(state) = rest.pop() {
        let (mut is_stuck, mut is_late) = (true, true);
        for thread in 0..state.threads.len() {
            for next in code.steps(&state, thread) {
                // Nothing promises that a thread wakes without a signal.
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
        look(
            &state,
            match (is_stuck, is_late) {
                (true, _) if state.threads.iter().all(is_over) => Ends::Done,
                (true, _) => Ends::Stuck,
                (false, true) => Ends::WaitsForTime,
                (false, false) => Ends::GoesOn,
            },
        );
    }
    Some(seen.len())
}

/// A state of a program.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct State {
    memory: Vec<u8>,
    /// Whether each is held.
    mutexes: Vec<bool>,
    rwlocks: Vec<RwLock>,
    /// Threads that wait and are not signalled.
    condvars: Vec<Vec<u8>>,
    semaphores: Vec<u32>,
    barriers: Vec<Barrier>,
    onces: Vec<Once>,
    threads: Vec<ThreadState>,
    /// Where it is of interest.
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
    Unborn,
    Runs,
    Ended,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct ThreadState {
    at: usize,
    phase: Phase,
    registers: [u64; REGISTERS],
    /// Of a compare-exchange: what it expects, then what it found.
    temporary: u128,
    /// How often it may still wake without a signal.
    spurious: u8,
    /// The round of a barrier that it waits for, or the size of a compare-exchange that has failed.
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

/// An outcome as text: the registers of all threads, then the words of all regions.
pub fn outcome(words: impl Iterator<Item = u64>) -> String {
    let words: Vec<String> = words.map(|word| word.to_string()).collect();
    words.join(" ")
}

/// How many words an outcome has.
pub fn words(program: &CProgram) -> usize {
    program.threads.len() * REGISTERS + program.regions.len() * REGION / 8
}
