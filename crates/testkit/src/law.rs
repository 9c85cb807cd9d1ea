//! The laws that hold for every algorithm and every program.

mod divided;
mod final_states;
mod graphs;
mod preemptions;
pub mod symmetry;
mod verified_prefixes;

use crate::direct;
use crate::machine::{Final, Machine};
use crate::oracle::{Oracle, Refusal, traces_within};
use crate::program::{Program, Verb};
use crate::random::Random;
use crate::renamed::Renamed;
use crate::trace::{Key, records};
use explore::{
    Algorithm, End, Interrupt, Observer, Options, Outcome, Replay, Schedule, Strategy, explore,
};
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A law that a program breaks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The algorithm; `None` if the objects themselves are wrong.
    pub algorithm: Option<Algorithm>,
    /// The order in which the program's threads were numbered.
    pub order: Vec<usize>,
    /// A description of the violation.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.algorithm.map_or("objects", Algorithm::name);
        let Violation { order, what, .. } = self;
        write!(f, "{name}, threads in the order {order:?}: {what}")
    }
}

/// The extent of the comparison.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Programs with more prefixes have no oracle.
    pub states: usize,
    /// Without an oracle, the algorithms are compared with each other if there are at most this
    /// many traces. Otherwise the program is left out.
    pub traces: u64,
    /// Number of orders in which the threads are numbered.
    pub orders: usize,
    /// Limit of executions per trace, for algorithms that are not optimal.
    pub redundancy: u64,
    /// Programs with more interleavings are not searched exhaustively.
    pub interleavings: u64,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort {
            states: 2_000,
            traces: 0,
            orders: 3,
            redundancy: 30,
            interleavings: 2_000,
        }
    }
}

/// The numbers from one program.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Tally {
    /// Maximal traces.
    pub traces: u64,
    /// Executions of all algorithms.
    pub executions: u64,
    /// Searches that were abandoned because they would take too long.
    pub unfinished: u64,
}

/// Checks a program against all laws. Returns `None` if the program is too large.
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
    let Some(expected) = Expected::new(program, effort).map_err(objects)? else {
        return Ok(None);
    };
    let graphs = || graphs::are_traces(program, &expected);
    catch_unwind(AssertUnwindSafe(graphs))
        .unwrap_or_else(|panic| Err(message(&*panic)))
        .map_err(objects)?;
    let mut tally = Tally {
        traces: expected.traces.len() as u64,
        ..Tally::default()
    };
    let mut order: Vec<usize> = (0..program.threads.len()).collect();
    for _ in 0..effort.orders {
        let laws = Laws {
            program,
            expected: &expected,
            order: &order,
            effort,
        };
        for &algorithm in algorithms {
            // A broken invariant of an algorithm is also a violation, so that its program is shown.
            let check = || laws.check(algorithm, random, &mut tally);
            catch_unwind(AssertUnwindSafe(check))
                .unwrap_or_else(|panic| Err(message(&*panic)))
                .map_err(|what| Violation {
                    algorithm: Some(algorithm),
                    order: order.clone(),
                    what,
                })?;
        }
        random.shuffle(&mut order);
    }
    Ok(Some(tally))
}

/// Returns the message of a panic.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    format!("panicked: {}", text.unwrap_or("without a message"))
}

/// Checks that the split semantics has the final states of the direct semantics, with the
/// exceptions in docs/book/src/algorithms.md, "Requests and waits".
fn has_the_direct_final_states(
    program: &Program,
    oracle: &Oracle,
    effort: Effort,
) -> Result<(), String> {
    let Some(direct) = direct::finals(program, 50 * effort.states) else {
        return Ok(());
    };
    // A signal may wake a waiter before the waiter has unlocked, which a try can observe. A
    // try to read fails while a writer waits.
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

/// The results that an algorithm must find.
struct Expected {
    traces: BTreeMap<Key, Outcome>,
    /// Number of maximal interleavings, if known.
    interleavings: Option<u64>,
    /// The final values and places, if known.
    finals: Option<BTreeSet<Final>>,
    /// `within[k]` contains the traces of interleavings with at most k preemptions. The vector is
    /// empty if there are too many interleavings.
    within: Vec<BTreeSet<Key>>,
}

/// The greatest bound on preemptions that is checked.
const MOST_PREEMPTIONS: u64 = 4;

impl Expected {
    /// Returns `None` if the program is too large, and an error if its objects break their own
    /// laws.
    fn new(program: &Program, effort: Effort) -> Result<Option<Expected>, String> {
        match Oracle::new(program, effort.states) {
            Ok(oracle) => {
                has_the_direct_final_states(program, &oracle, effort)?;
                Ok(Some(Expected::of_oracle(program, oracle, effort)))
            }
            Err(Refusal::TooLarge) => Ok(Expected::of_optimal(program, effort)),
            Err(Refusal::Unlawful(what)) => Err(what),
        }
    }

    /// Returns the results of brute force.
    fn of_oracle(program: &Program, oracle: Oracle, effort: Effort) -> Expected {
        let bounds = match oracle.interleavings <= effort.interleavings {
            true => 0..MOST_PREEMPTIONS as u32 + 1,
            false => 0..0,
        };
        Expected {
            interleavings: Some(oracle.interleavings),
            traces: oracle.traces,
            finals: Some(oracle.finals),
            within: bounds.map(|bound| traces_within(program, bound)).collect(),
        }
    }

    /// Returns the results of `optimal`, or `None` if there are too many traces.
    fn of_optimal(program: &Program, effort: Effort) -> Option<Expected> {
        let mut seen = Seen {
            order: (0..program.threads.len()).collect(),
            limit: effort.traces,
            ..Seen::default()
        };
        let mut strategy = Algorithm::Optimal.strategy(Options::default());
        let end = match effort.traces {
            0 => return None,
            _ => explore(&mut Machine::new(program), &mut strategy, &mut seen),
        };
        let outcomes = seen
            .traces
            .into_iter()
            .map(|(key, (outcome, _))| (key, outcome));
        (end == Ok(End::Exhausted)).then(|| Expected {
            traces: outcomes.collect(),
            interleavings: None,
            finals: None,
            within: Vec::new(),
        })
    }
}

/// A program with its threads in a given order.
struct Laws<'a> {
    program: &'a Program,
    expected: &'a Expected,
    order: &'a [usize],
    effort: Effort,
}

/// The executions of one search.
#[derive(Default)]
struct Seen {
    order: Vec<usize>,
    /// The outcome and one schedule of each trace.
    traces: BTreeMap<Key, (Outcome, Schedule)>,
    complete: u64,
    blocked: u64,
    /// The number of times that the search was restarted.
    restarts: u64,
    /// The number of executions after which the search stops.
    limit: u64,
    /// An estimate that is not between 0 and 1.
    wrong_estimate: Option<f64>,
}

impl Observer for Seen {
    fn ended(&mut self, outcome: Outcome, strategy: &dyn Strategy) -> ControlFlow<()> {
        if outcome.is_maximal() {
            self.complete += 1;
            let execution = strategy.execution();
            let key = Key::of(&records(execution, &self.order));
            self.traces
                .entry(key)
                .or_insert_with(|| (outcome, execution.schedule()));
        } else {
            self.blocked += 1;
        }
        self.wrong_estimate = strategy
            .estimate()
            .filter(|part| !(0.0..=1.0).contains(part))
            .or(self.wrong_estimate);
        match self.executions() < self.limit {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    }

    fn restarted(&mut self) {
        self.traces.clear();
        self.complete = 0;
        self.blocked = 0;
        self.restarts += 1;
    }
}

impl Seen {
    fn executions(&self) -> u64 {
        self.complete + self.blocked
    }
}

impl Laws<'_> {
    fn check(
        &self,
        algorithm: Algorithm,
        random: &mut Random,
        tally: &mut Tally,
    ) -> Result<(), String> {
        if algorithm.is_exhaustive() && self.expected.within.is_empty() {
            tally.unfinished += 1;
            return Ok(());
        }
        match (algorithm.proves(), algorithm.compares_states()) {
            (false, _) => self.is_repeatable(algorithm, random)?,
            (true, false) => self.finds_every_trace(algorithm, random, tally)?,
            (true, true) => self.finds_every_final_state(algorithm, random, tally)?,
        }
        self.can_be_divided(algorithm, random)?;
        self.verifies_prefixes(algorithm, random)?;
        self.keeps_within_preemptions(algorithm, random)?;
        self.grows_preemptions(algorithm, random)
    }

    /// Checks that all traces are found with the right outcomes. No trace may be executed to its
    /// end twice (for an exhaustive search: no interleaving). Optimal algorithms may have no
    /// blocked execution. The search is saved and resumed at a random point, and some schedules are
    /// replayed.
    fn finds_every_trace(
        &self,
        algorithm: Algorithm,
        random: &mut Random,
        tally: &mut Tally,
    ) -> Result<(), String> {
        let traces = self.expected.traces.len() as u64;
        let limit = match algorithm.is_optimal() {
            true => 20 * traces + 20,
            false => self.effort.redundancy * traces + self.effort.interleavings,
        };
        let pause = random.below(traces + 1) + 1;
        let mut strategy = algorithm.strategy(Options::default());
        let mut seen = self.seen(pause);
        let mut end = self.explore(&mut strategy, &mut seen)?;
        if end == End::Stopped {
            strategy = resumed(algorithm, Options::default(), &strategy.save())?;
            seen.limit = limit;
            end = self.explore(&mut strategy, &mut seen)?;
        }
        tally.executions += seen.executions();
        self.are_traces(&seen)?;
        self.replay(&seen, random)?;
        if end == End::Stopped && !algorithm.is_optimal() {
            tally.unfinished += 1;
            return Ok(());
        }
        let Seen {
            complete, blocked, ..
        } = seen;
        if seen.traces.len() as u64 != traces {
            return Err(format!("{} of {traces} traces", seen.traces.len()));
        }
        let interleavings = self
            .expected
            .interleavings
            .filter(|_| algorithm.is_exhaustive());
        let expected = interleavings.unwrap_or(traces);
        if complete != expected || algorithm.is_optimal() && blocked != 0 {
            return Err(format!(
                "{complete} executions for {traces} traces, {blocked} blocked"
            ));
        }
        Ok(())
    }

    /// Checks that the same seed always gives the same traces, even if the search is resumed or
    /// skips executions.
    fn is_repeatable(&self, algorithm: Algorithm, random: &mut Random) -> Result<(), String> {
        let options = Options {
            seed: random.number(),
            ..Options::default()
        };
        let mut at_once = self.seen(8);
        self.explore(&mut algorithm.strategy(options), &mut at_once)?;
        self.are_traces(&at_once)?;
        self.replay(&at_once, random)?;
        let mut in_parts = self.seen(3);
        let mut strategy = algorithm.strategy(options);
        self.explore(&mut strategy, &mut in_parts)?;
        strategy = resumed(algorithm, options, &strategy.save())?;
        in_parts.limit = 5;
        self.explore(&mut strategy, &mut in_parts)?;
        // A search that skips executions continues like a search that performs them.
        let mut behind = resumed(algorithm, options, &strategy.save())?;
        behind.skip(2);
        in_parts.limit = 7;
        self.explore(&mut strategy, &mut in_parts)?;
        in_parts.limit = 8;
        // Pct learns from its first executions (`LEARNING`), which are never skipped.
        let last = match algorithm {
            Algorithm::Pct => &mut strategy,
            _ => &mut behind,
        };
        self.explore(last, &mut in_parts)?;
        match at_once.traces == in_parts.traces {
            true => Ok(()),
            false => Err("different executions for the same seed".to_owned()),
        }
    }

    /// Checks that replayed schedules lead to the same trace and outcome.
    fn replay(&self, seen: &Seen, random: &mut Random) -> Result<(), String> {
        for _ in 0..2 {
            let number = random.below(seen.traces.len().max(1) as u64) as usize;
            let Some((key, (outcome, schedule))) = seen.traces.iter().nth(number) else {
                return Ok(());
            };
            let mut again = self.seen(u64::MAX);
            self.explore(&mut Replay::new(schedule.clone()), &mut again)?;
            let is_same =
                again.complete == 1 && again.traces.get(key) == Some(&(*outcome, schedule.clone()));
            if !is_same {
                return Err(format!(
                    "the replay of {schedule:?} is a different execution"
                ));
            }
        }
        Ok(())
    }

    fn are_traces(&self, seen: &Seen) -> Result<(), String> {
        if let Some(estimate) = seen.wrong_estimate {
            return Err(format!("the estimate is {estimate}"));
        }
        for (key, (outcome, _)) in &seen.traces {
            match self.expected.traces.get(key) {
                None => return Err("an execution belongs to no trace of the program".to_owned()),
                Some(expected) if expected != outcome => {
                    return Err(format!("outcome {outcome:?} instead of {expected:?}"));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    fn seen(&self, limit: u64) -> Seen {
        Seen {
            order: self.order.to_vec(),
            limit,
            ..Seen::default()
        }
    }

    fn explore(
        &self,
        strategy: &mut impl Strategy,
        seen: &mut dyn Observer,
    ) -> Result<End, String> {
        let mut machine = Renamed::new(Machine::new(self.program), self.order.to_vec());
        explore(&mut machine, strategy, seen).map_err(|interrupt: Interrupt| interrupt.to_string())
    }
}

fn resumed(
    algorithm: Algorithm,
    options: Options,
    saved: &[u8],
) -> Result<Box<dyn Strategy>, String> {
    algorithm
        .resume(options, saved)
        .map_err(|unreadable| unreadable.to_string())
}
