//! Brute force: computes the whole behaviour of a machine, which is cloned before every step.
//!
//! Prefixes with the same key must lead to the same state (this is checked), so each key is visited
//! once. The core's requirements are also checked. A step must not disable another thread, or
//! change another thread's operation without a conflict. Independent operations must commute.

use crate::machine::{Final, Machine};
use crate::program::Program;
use crate::trace::Key;
use explore::{Outcome, Pending, Program as _, Request, Schedule, Step, ThreadId};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The whole behaviour of a program.
#[derive(Debug, Default)]
pub struct Oracle {
    /// The outcome of each maximal trace.
    pub traces: BTreeMap<Key, Outcome>,
    /// The outcome of each orbit of maximal traces, if orbits are asked for. Otherwise empty.
    pub orbits: BTreeMap<Key, Outcome>,
    has_orbits: bool,
    /// Number of maximal interleavings, counting each choice.
    pub interleavings: u64,
    /// Number of events of the longest execution.
    pub longest: usize,
    /// All final values and places.
    pub finals: BTreeSet<Final>,
    /// `finals` without the states in which a reader waits only because writers wait.
    pub finals_that_prefer_readers: BTreeSet<Final>,
    prefixes: HashMap<Key, Visited>,
    limit: usize,
}

#[derive(Debug)]
struct Visited {
    end: Final,
    pending: Vec<Pending>,
    interleavings: u64,
}

/// The reason why there is no oracle.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refusal {
    /// The program has too many states.
    #[error("the program has too many states")]
    TooLarge,
    /// An object violates a requirement of the core.
    #[error("{0}")]
    Unlawful(String),
}

impl Oracle {
    /// Enumerates the program, with at most `limit` different prefixes.
    pub fn new(program: &Program, limit: usize) -> Result<Oracle, Refusal> {
        let mut oracle = Oracle {
            limit,
            ..Oracle::default()
        };
        oracle.interleavings = oracle.visit(&Machine::new(program), &mut Schedule::new())?;
        Ok(oracle)
    }

    /// Like [`new`](Oracle::new), but also finds the orbits of traces under exchanges of twins.
    pub fn with_orbits(program: &Program, limit: usize) -> Result<Oracle, Refusal> {
        let mut oracle = Oracle {
            limit,
            has_orbits: true,
            ..Oracle::default()
        };
        oracle.interleavings = oracle.visit(&Machine::new(program), &mut Schedule::new())?;
        Ok(oracle)
    }

    /// Returns the number of different prefixes.
    pub fn states(&self) -> usize {
        self.prefixes.len()
    }

    /// Returns the number of maximal interleavings that continue the schedule.
    fn visit(&mut self, machine: &Machine, schedule: &mut Schedule) -> Result<u64, Refusal> {
        let key = Key::of(machine.records());
        let end = machine.end();
        if let Some(visited) = self.prefixes.get(&key) {
            if visited.end != end || visited.pending != machine.pending() {
                return Err(unlawful("the trace does not determine the state", schedule));
            }
            return Ok(visited.interleavings);
        }
        if self.prefixes.len() >= self.limit {
            return Err(Refusal::TooLarge);
        }
        let steps = steps(machine);
        let mut interleavings = 0;
        for &step in &steps {
            let next = after(machine, step);
            check_monotone(machine, &next, step, schedule)?;
            schedule.push(step);
            interleavings += self.visit(&next, schedule)?;
            schedule.pop();
        }
        check_independent(machine, &steps, schedule)?;
        if steps.is_empty() {
            interleavings = 1;
            self.longest = self.longest.max(schedule.len());
            self.finals.insert(end.clone());
            if !machine.is_overtaking() {
                self.finals_that_prefer_readers.insert(end.clone());
            }
            self.traces.insert(key.clone(), machine.outcome());
            if self.has_orbits {
                self.orbits.insert(machine.orbit(), machine.outcome());
            }
        }
        let pending = machine.pending().to_vec();
        self.prefixes.insert(
            key,
            Visited {
                end,
                pending,
                interleavings,
            },
        );
        Ok(interleavings)
    }
}

/// Returns the traces of all maximal executions with at most this number of preemptions. A step is
/// a preemption if the thread that moved last is another thread, is enabled, and has not yielded.
pub(crate) fn traces_within(program: &Program, preemptions: u32) -> BTreeSet<Key> {
    let mut traces = BTreeSet::new();
    let mut work = vec![(Machine::new(program), None, preemptions)];
    while let Some((machine, last, left)) = work.pop() {
        let steps = steps(&machine);
        if steps.is_empty() {
            traces.insert(Key::of(machine.records()));
        }
        for &step in &steps {
            let is_preempted = last.is_some_and(|last: ThreadId| {
                let continues = |request: &Request| !request.yields;
                last != step.thread
                    && machine.pending()[last.index()]
                        .enabled()
                        .is_some_and(continues)
            });
            if let Some(left) = left.checked_sub(u32::from(is_preempted)) {
                work.push((after(&machine, step), Some(step.thread), left));
            }
        }
    }
    traces
}

fn after(machine: &Machine, step: Step) -> Machine {
    let mut next = machine.clone();
    next.step(step).expect("a machine is never interrupted");
    next
}

/// Returns all possible steps.
fn steps(machine: &Machine) -> Vec<Step> {
    let mut steps = Vec::new();
    for (index, pending) in machine.pending().iter().enumerate() {
        let ways = pending.enabled().map_or(0, |request| request.alternatives);
        let thread = ThreadId::from_index(index);
        steps.extend((0..ways).map(|choice| Step::choosing(thread, choice)));
    }
    steps
}

/// Checks the operations of the other threads. Enabled operations must stay enabled, at the same
/// objects. Waits must not change. An enabled operation may change only if the step writes its
/// object.
fn check_monotone(
    before: &Machine,
    after: &Machine,
    step: Step,
    schedule: &[Step],
) -> Result<(), Refusal> {
    let executed = before.pending()[step.thread.index()]
        .enabled()
        .expect("the step was executed")
        .op;
    for (index, (old, new)) in before.pending().iter().zip(after.pending()).enumerate() {
        if index == step.thread.index() {
            continue;
        }
        let stays = match (old, new) {
            (Pending::Enabled(old), Pending::Enabled(new)) => {
                let may_change =
                    old.op.object == executed.object && executed.access == explore::Access::Write;
                old == new || may_change && is_same_operation(old, new)
            }
            (Pending::Waiting(old), Pending::Enabled(new) | Pending::Waiting(new)) => old == new,
            (Pending::NotStarted, _) => true,
            _ => old == new,
        };
        if !stays {
            let what = format!("{step:?} changes thread {index} from {old:?} to {new:?}");
            return Err(unlawful(&what, schedule));
        }
    }
    Ok(())
}

fn is_same_operation(old: &Request, new: &Request) -> bool {
    old.op.kind == new.op.kind && old.op.object == new.op.object && old.expects == new.expects
}

/// Checks that two steps of different threads without a conflict commute.
fn check_independent(machine: &Machine, steps: &[Step], schedule: &[Step]) -> Result<(), Refusal> {
    let op = |step: &Step| {
        machine.pending()[step.thread.index()]
            .enabled()
            .expect("the step is possible")
            .op
    };
    for (index, a) in steps.iter().enumerate() {
        for b in &steps[index + 1..] {
            if a.thread == b.thread || op(a).conflicts_with(op(b)) {
                continue;
            }
            let ab = after(&after(machine, *a), *b);
            let ba = after(&after(machine, *b), *a);
            let is_same = Key::of(ab.records()) == Key::of(ba.records())
                && ab.end() == ba.end()
                && ab.pending() == ba.pending();
            if !is_same {
                return Err(unlawful(
                    &format!("{a:?} and {b:?} do not commute"),
                    schedule,
                ));
            }
        }
    }
    Ok(())
}

fn unlawful(what: &str, schedule: &[Step]) -> Refusal {
    let steps: Vec<String> = schedule
        .iter()
        .map(|step| format!("{}.{}", step.thread, step.choice))
        .collect();
    Refusal::Unlawful(format!("{what} after {}", steps.join(" ")))
}
