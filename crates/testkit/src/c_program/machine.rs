//! Runs programs in every interleaving, naively: states are stored, and each enabled thread is tried in each.

mod compile;
mod step;

use super::{CProgram, REGION, REGISTERS};
use compile::Code;
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
    /// Whether some execution can only go on because a timed operation expires, which takes until the year 2100.
    pub waits_for_time: bool,
    /// How many states there are.
    pub states: usize,
}

/// Everything that a program may do; none if it has more states than this.
pub fn behaviour(program: &CProgram, most: usize) -> Option<Behaviour> {
    let code = Code::of(program);
    let mut found = Behaviour::default();
    let mut seen = HashSet::new();
    let mut rest = vec![code.start()];
    seen.insert(rest[0].clone());
    while let Some(state) = rest.pop() {
        found.has_race |= code.races(&state);
        let (mut is_stuck, mut is_late) = (true, true);
        for thread in 0..state.threads.len() {
            for next in code.steps(&state, thread) {
                is_stuck = false;
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
        found.waits_for_time |= is_late && !is_stuck;
        if is_stuck {
            match state
                .threads
                .iter()
                .all(|thread| thread.phase != Phase::Runs)
            {
                true => {
                    found.outcomes.insert(state.outcome());
                }
                false => found.has_deadlock = true,
            }
        }
    }
    found.states = seen.len();
    Some(found)
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
