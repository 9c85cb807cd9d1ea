//! What must hold of every algorithm and every program.

use crate::machine::Machine;
use crate::oracle::{Oracle, Refusal};
use crate::program::{Program, Verb};
use crate::renamed::Renamed;
use crate::trace::{Key, records};
use crate::{direct, random::Random};
use explore::{Algorithm, End, Observer, Options, Outcome, Strategy, explore};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;

/// A law that a program breaks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// Which algorithm; none where the objects themselves are at fault.
    pub algorithm: Option<Algorithm>,
    /// The numbers that its threads had.
    pub order: Vec<usize>,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.algorithm.map_or("objects", Algorithm::name);
        write!(
            f,
            "{name}, threads in the order {:?}: {}",
            self.order, self.what
        )
    }
}

/// How much is compared.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Programs with more prefixes are left out.
    pub states: usize,
    /// In how many orders the threads are numbered.
    pub orders: usize,
    /// At most so many executions for each trace, for algorithms that are not optimal.
    pub redundancy: u64,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort {
            states: 2_000,
            orders: 3,
            redundancy: 60,
        }
    }
}

/// What one program contributed.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Tally {
    /// Maximal traces.
    pub traces: u64,
    /// Executions of all algorithms.
    pub executions: u64,
    /// Searches that were given up because they would take too long.
    pub unfinished: u64,
}

/// Checks a program against all laws; none where it is too large.
pub fn check(
    program: &Program,
    algorithms: &[Algorithm],
    effort: Effort,
    random: &mut Random,
) -> Result<Option<Tally>, Violation> {
    let objects = |what: String| Violation {
        algorithm: None,
        order: Vec::new(),
        what,
    };
    let oracle = match Oracle::new(program, effort.states) {
        Ok(oracle) => oracle,
        Err(Refusal::TooLarge) => return Ok(None),
        Err(Refusal::Unlawful(what)) => return Err(objects(what)),
    };
    has_the_direct_final_states(program, &oracle, effort).map_err(objects)?;
    let mut tally = Tally {
        traces: oracle.traces.len() as u64,
        ..Tally::default()
    };
    let mut order: Vec<usize> = (0..program.threads.len()).collect();
    for _ in 0..effort.orders {
        let laws = Laws {
            program,
            oracle: &oracle,
            order: &order,
            effort,
        };
        for &algorithm in algorithms {
            let checked = match algorithm.proves() {
                true => laws.finds_every_trace(algorithm, random, &mut tally),
                false => laws.finds_traces_only(algorithm, random),
            };
            checked.map_err(|what| Violation {
                algorithm: Some(algorithm),
                order: order.clone(),
                what,
            })?;
        }
        random.shuffle(&mut order);
    }
    Ok(Some(tally))
}

/// The split semantics ends as the direct one does, except where OBJECTS documents more behaviour.
fn has_the_direct_final_states(
    program: &Program,
    oracle: &Oracle,
    effort: Effort,
) -> Result<(), String> {
    let Some(direct) = direct::finals(program, 50 * effort.states) else {
        return Ok(());
    };
    // A signal may wake a waiter before it has unlocked, which a try can see (3.3); a reader behind a
    // waiting writer fails its try (3.2).
    let may_have_more = program.does(&[Verb::TryLock])
        && program.does(&[Verb::Wait, Verb::TimedWait])
        || program.does(&[Verb::TryRead, Verb::TryWrite]);
    let prefers_readers = &oracle.finals_that_prefer_readers;
    let (split, extra) = match may_have_more {
        true => (&oracle.finals, None),
        false => (prefers_readers, prefers_readers.difference(&direct).next()),
    };
    if let Some(lost) = direct.difference(split).next() {
        return Err(format!(
            "a final state of the direct semantics is lost: {lost:?}"
        ));
    }
    match extra {
        Some(extra) => Err(format!("the direct semantics has no final state {extra:?}")),
        None => Ok(()),
    }
}

/// One program with its threads in one order.
struct Laws<'a> {
    program: &'a Program,
    oracle: &'a Oracle,
    order: &'a [usize],
    effort: Effort,
}

/// The executions of one search.
#[derive(Default)]
struct Seen {
    order: Vec<usize>,
    /// How often each trace was executed, and with what outcome.
    traces: BTreeMap<Key, (u64, Outcome)>,
    complete: u64,
    blocked: u64,
    /// The search stops after so many.
    limit: u64,
}

impl Observer for Seen {
    fn ended(&mut self, outcome: Outcome, strategy: &dyn Strategy) -> ControlFlow<()> {
        if outcome.is_maximal() {
            self.complete += 1;
            let key = Key::of(&records(strategy.execution(), &self.order));
            self.traces.entry(key).or_insert((0, outcome)).0 += 1;
        } else {
            self.blocked += 1;
        }
        match self.executions() < self.limit {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    }

    fn restarted(&mut self) {
        self.traces.clear();
        self.complete = 0;
        self.blocked = 0;
    }
}

impl Seen {
    fn executions(&self) -> u64 {
        self.complete + self.blocked
    }
}

impl Laws<'_> {
    fn machine(&self) -> Renamed {
        Renamed::new(Machine::new(self.program), self.order.to_vec())
    }

    /// All traces, with the right outcomes; optimal algorithms each once, and exhaustive search each
    /// interleaving. Somewhere it is saved and resumed.
    fn finds_every_trace(
        &self,
        algorithm: Algorithm,
        random: &mut Random,
        tally: &mut Tally,
    ) -> Result<(), String> {
        let traces = self.oracle.traces.len() as u64;
        let limit = match algorithm {
            Algorithm::Exhaustive => self.oracle.interleavings + 1,
            Algorithm::Optimal | Algorithm::Parsimonious => 20 * traces + 20,
            _ => self.effort.redundancy * traces + 100,
        };
        if algorithm == Algorithm::Exhaustive && limit > 5 * self.effort.states as u64 {
            tally.unfinished += 1;
            return Ok(());
        }
        let mut seen = Seen {
            order: self.order.to_vec(),
            limit: random.below(traces + 1) + 1,
            ..Seen::default()
        };
        let mut machine = self.machine();
        let mut strategy = algorithm.strategy(Options::default());
        let interrupted = |interrupt: explore::Interrupt| interrupt.to_string();
        let mut end = explore(&mut machine, &mut strategy, &mut seen).map_err(interrupted)?;
        if end == End::Stopped && seen.limit < limit {
            let saved = strategy.save();
            strategy = algorithm
                .resume(Options::default(), &saved)
                .map_err(|unreadable| unreadable.to_string())?;
            seen.limit = limit;
            end = explore(&mut machine, &mut strategy, &mut seen).map_err(interrupted)?;
        }
        tally.executions += seen.executions();
        if end == End::Stopped && !algorithm.is_optimal() && algorithm != Algorithm::Exhaustive {
            tally.unfinished += 1;
            return self.are_traces(&seen);
        }
        self.are_traces(&seen)?;
        if seen.traces.len() as u64 != traces {
            return Err(format!("{} of {traces} traces", seen.traces.len()));
        }
        if algorithm == Algorithm::Exhaustive && seen.complete != self.oracle.interleavings {
            let all = self.oracle.interleavings;
            return Err(format!("{} of {all} interleavings", seen.complete));
        }
        if algorithm.is_optimal() && (seen.complete != traces || seen.blocked != 0) {
            let Seen {
                complete, blocked, ..
            } = seen;
            return Err(format!(
                "{complete} executions for {traces} traces, {blocked} blocked"
            ));
        }
        Ok(())
    }

    /// Legal traces, whether all or not.
    fn finds_traces_only(&self, algorithm: Algorithm, random: &mut Random) -> Result<(), String> {
        let options = Options {
            seed: random.next(),
            ..Options::default()
        };
        let mut seen = Seen {
            order: self.order.to_vec(),
            limit: 10,
            ..Seen::default()
        };
        let mut strategy = algorithm.strategy(options);
        explore(&mut self.machine(), &mut strategy, &mut seen)
            .map_err(|interrupt| interrupt.to_string())?;
        self.are_traces(&seen)
    }

    fn are_traces(&self, seen: &Seen) -> Result<(), String> {
        for (key, (_, outcome)) in &seen.traces {
            match self.oracle.traces.get(key) {
                None => return Err("an execution is no trace of the program".to_owned()),
                Some((expected, _)) if expected != outcome => {
                    return Err(format!("outcome {outcome:?} instead of {expected:?}"));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }
}
