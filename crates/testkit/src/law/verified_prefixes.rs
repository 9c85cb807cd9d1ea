//! The law of verifications: a prefix counts as verified as soon as all executions that begin with
//! it were performed, but not before. Its constraints admit no other executions.

use super::Laws;
use crate::machine::Machine;
use crate::random::Random;
use crate::trace::{Key, records};
use explore::{
    Algorithm, Decision, Ending, Execution, Outcome, Point, Program, Step, Strategy, ThreadId,
    Verification,
};
use std::collections::BTreeSet;

/// Length of the random guide of the first execution.
const GUIDED: usize = 64;

impl Laws<'_> {
    /// Checks that the prefixes of a random first execution are verified one after the other.
    pub(super) fn verifies_prefixes(
        &self,
        algorithm: Algorithm,
        random: &mut Random,
    ) -> Result<(), String> {
        let threads = self.program.threads.len();
        let guide = (0..GUIDED).map(|_| ThreadId::from_index(random.index(threads)));
        let strategy = algorithm.verifier(guide.collect());
        let Some(mut strategy) = strategy.filter(|_| self.expected.finals.is_some()) else {
            return Ok(());
        };
        let traces = self.expected.traces.len() as u64;
        let limit = self.effort.redundancy * traces + self.effort.interleavings;
        let mut watched = Watched::new(self);
        while watched.executions < limit {
            if !strategy.backtrack() {
                watched.verification.exhausted();
                return watched.is_verified(algorithm);
            }
            if strategy.has_restarted() {
                watched = Watched::new(self);
            }
            let before = watched.verification.verified();
            watched.verification.begins(strategy.execution().len());
            if watched.verification.verified() != before {
                watched.is_verified(algorithm)?;
            }
            watched.run(&mut *strategy)?;
            if watched.verification.has_failed() {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// A verification with the executions that were performed.
struct Watched {
    start: Machine,
    verification: Verification,
    executed: BTreeSet<Key>,
    executions: u64,
}

impl Watched {
    fn new(laws: &Laws<'_>) -> Watched {
        Watched {
            start: Machine::new(laws.program),
            verification: Verification::default(),
            executed: BTreeSet::new(),
            executions: 0,
        }
    }

    /// Performs one execution.
    fn run(&mut self, strategy: &mut dyn Strategy) -> Result<(), String> {
        let wrong = |error: &dyn ToString| error.to_string();
        let mut machine = self.start.clone();
        let repeated = machine.repeat(strategy.execution(), false);
        repeated.map_err(|error| wrong(&error))?;
        let ending = loop {
            let decision = strategy.extend(machine.pending());
            match decision.map_err(|error| wrong(&error))? {
                Decision::Run(step) => {
                    let performed = machine.step(step).map_err(|error| wrong(&error))?;
                    strategy.performed(&performed);
                }
                Decision::Probe => return Err("a verification compares no states".to_owned()),
                Decision::Stop(ending) => break ending,
            }
        };
        let outcome = match ending {
            Ending::Maximal => machine.outcome(),
            Ending::Blocked => Outcome::Blocked,
        };
        strategy.analyse(outcome);
        self.verification.ended(outcome, strategy.execution());
        self.executions += 1;
        if outcome.is_maximal() {
            self.executed.insert(key(strategy.execution()));
        }
        Ok(())
    }

    /// Checks that all traces with the prefix were executed (and by an optimal algorithm no other
    /// traces), and that the constraints admit exactly these traces.
    fn is_verified(&self, algorithm: Algorithm) -> Result<(), String> {
        let first = self.verification.first();
        let first = first.expect("a prefix that is verified is one of an execution");
        let length = self.verification.verified();
        let prefix: Vec<Step> = first.schedule()[..length].to_vec();
        let what = |what: &str| {
            let of = first.len();
            format!("the prefix of {length} of {of} events {prefix:?}: {what}")
        };
        let mut machine = self.start.clone();
        for &step in &prefix {
            machine.step(step).map_err(|error| error.to_string())?;
        }
        let mut admissible = Runs::default();
        admissible.follow(&machine, &|_, _| Some(None));
        if let Some(missing) = admissible.ends.difference(&self.executed).next() {
            return Err(what(&format!("an execution is missing, {missing:?}")));
        }
        let needed = admissible.ends.len() as u64;
        if algorithm.is_optimal() && self.executions != needed {
            let executions = self.executions;
            return Err(what(&format!(
                "{executions} executions where {needed} were needed"
            )));
        }
        let constraints = self.verification.constraints();
        let mut enforced = Runs::default();
        enforced.follow(&self.start, &|machine, point| {
            let mut waited = constraints
                .iter()
                .filter(|constraint| constraint.then == point);
            let inside = first.event_at(point).filter(|event| event.index() < length);
            let choice = inside.map(|event| first.event(event).step.choice);
            waited
                .all(|constraint| has_performed(machine, constraint.first))
                .then_some(choice)
        });
        if enforced.is_deadlocked {
            return Err(what(&format!("{constraints:?} lead to a deadlock")));
        }
        if enforced.ends != admissible.ends {
            let extra = enforced.ends.difference(&admissible.ends).count();
            let lost = admissible.ends.difference(&enforced.ends).count();
            let text = format!("{constraints:?} allow {extra} other traces, and lose {lost}");
            return Err(what(&text));
        }
        Ok(())
    }
}

fn key(execution: &Execution) -> Key {
    let threads = execution.events().map(|(_, event)| event.thread().index());
    let original: Vec<usize> = (0..=threads.max().unwrap_or(0)).collect();
    Key::of(&records(execution, &original))
}

fn has_performed(machine: &Machine, point: Point) -> bool {
    let mut records = machine.records().iter();
    records.any(|record| record.step.thread == point.thread && record.index == point.index)
}

/// Returns `None` if a thread must not perform its event yet. Otherwise returns the required
/// alternative, if there is one.
type Permission<'p> = dyn Fn(&Machine, Point) -> Option<Option<u32>> + 'p;

/// The behaviour of a machine whose steps wait for constraints.
#[derive(Default)]
struct Runs {
    ends: BTreeSet<Key>,
    visited: BTreeSet<Key>,
    /// Whether a state was reached in which all threads that could continue wait for constraints.
    is_deadlocked: bool,
}

impl Runs {
    fn follow(&mut self, machine: &Machine, may_go: &Permission<'_>) {
        if !self.visited.insert(Key::of(machine.records())) {
            return;
        }
        let (mut is_maximal, mut continues) = (true, false);
        for (index, pending) in machine.pending().iter().enumerate() {
            let Some(request) = pending.enabled() else {
                continue;
            };
            is_maximal = false;
            let thread = ThreadId::from_index(index);
            let records = machine.records().iter();
            let done = records
                .filter(|record| record.step.thread == thread)
                .count();
            let index = done as u32 + 1;
            let Some(only) = may_go(machine, Point { thread, index }) else {
                continue;
            };
            continues = true;
            let any = 0..request.alternatives;
            for choice in only.map_or(any, |only| only..only + 1) {
                let mut next = machine.clone();
                next.step(Step::choosing(thread, choice))
                    .expect("a machine is never interrupted");
                self.follow(&next, may_go);
            }
        }
        if is_maximal {
            self.ends.insert(Key::of(machine.records()));
        }
        self.is_deadlocked |= !is_maximal && !continues;
    }
}
