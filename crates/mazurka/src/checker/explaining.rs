//! Explains a failure: finds event orders of the failing execution that no passing execution has.
//!
//! The races of the failing execution are reversed, one at a time, and the program continues from
//! there. Then the races of the resulting executions that also fail are reversed. Passing
//! executions show which orders are needed. The explanation depends on these executions alone.

use super::search::{Search, UntilEnded};
use explore::{Execution, Op, Outcome, Point, Race, Replay, Schedule, Strategy};
use report::{Interleaving, Racing, Why};

/// The maximum number of executions for an explanation.
const RUNS: usize = 64;

/// The maximum number of pairs considered.
const PAIRS: usize = 30;

/// Up to this size, all sets of pairs are tried, so that the smallest suitable set is found.
const SMALL: usize = 3;

/// Two events of the failing execution, the first before the second.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Pair {
    first: (Point, Op),
    second: (Point, Op),
}

/// An execution that was run for the explanation.
struct Seen {
    execution: Execution,
    is_passing: bool,
}

impl Search {
    /// Explains the failure of the execution with this schedule of operations and these races.
    /// `rows` has the row of each event in the interleaving. Also returns the most similar passing
    /// execution. Each result is `None` if nothing was found.
    pub(super) fn explain(
        &mut self,
        schedule: &Schedule,
        rows: &[usize],
        races: &[Race],
    ) -> (Option<Why>, Option<Interleaving>) {
        let Some((failing, _)) = self.run_on(schedule.clone()) else {
            return (None, None);
        };
        let is_known = |race: &&Race| race.second.index() < failing.len();
        let mut races: Vec<Race> = races.iter().filter(is_known).copied().collect();
        let mut all = vec![Seen {
            execution: failing.clone(),
            is_passing: false,
        }];
        let mut pairs = Vec::new();
        let (mut next, mut runs) = (0, 0);
        // Races of failing executions, those of the original one before those of later ones.
        while let Some(seen) = all.get(next).filter(|_| runs < RUNS) {
            next += 1;
            if seen.is_passing {
                continue;
            }
            let execution = seen.execution.clone();
            let ended = match next {
                1 => std::mem::take(&mut races),
                _ => execution.races().iter().rev().copied().collect(),
            };
            for race in ended {
                let pair = Pair::of(&execution, race);
                if pairs.len() < PAIRS && !pairs.contains(&pair) && pair.is_in(&failing) {
                    pairs.push(pair);
                }
                if runs < RUNS && self.brake.pulled().is_none() {
                    runs += 1;
                    let other = self.run_on(reversed(&execution, race));
                    all.extend(
                        other.and_then(|(execution, outcome)| Seen::new(execution, outcome, &all)),
                    );
                }
            }
        }
        let passing = all.iter().filter(|seen| seen.is_passing);
        let nearest = passing
            .clone()
            .max_by_key(|seen| in_common(&failing, &seen.execution));
        let nearest = nearest.map(|seen| seen.execution.schedule());
        let row = |(at, _): (Point, Op)| rows.get(failing.event_at(at)?.index()).copied();
        let racing = |pair: Pair| {
            Some(Racing {
                first: row(pair.first)?,
                second: row(pair.second)?,
            })
        };
        let why = deciding(&pairs, &all).map(|(pairs, failing)| Why {
            pairs: pairs.into_iter().filter_map(racing).collect(),
            failing,
            passing: passing.count() as u64,
        });
        let passing = nearest.and_then(|schedule| self.model.trace(&schedule).ok());
        (why, passing.map(|trace| trace.interleaving))
    }

    /// Runs a schedule and continues to the end of the execution. Returns `None` if the run is
    /// interrupted.
    fn run_on(&mut self, schedule: Schedule) -> Option<(Execution, Outcome)> {
        let mut replay = Replay::new(schedule);
        let mut ended = UntilEnded::default();
        explore::explore(&mut self.model, &mut replay, &mut ended).ok()?;
        Some((replay.execution().clone(), ended.outcome?))
    }
}

impl Seen {
    /// Creates the record of an execution. Returns `None` if the execution neither passes nor
    /// fails, or was seen before.
    fn new(execution: Execution, outcome: Outcome, before: &[Seen]) -> Option<Seen> {
        let is_passing = outcome == Outcome::Completed;
        let schedule = execution.schedule();
        let mut before = before.iter();
        let is_new = before.all(|seen| seen.execution.schedule() != schedule);
        (is_new && (is_passing || outcome.is_bug())).then_some(Seen {
            execution,
            is_passing,
        })
    }
}

/// Returns the beginning of the execution with the second event of the race before the first.
pub(super) fn reversed(execution: &Execution, race: Race) -> Schedule {
    let step = |event| execution.event(event).step;
    let mut schedule: Schedule = execution.schedule()[..race.first.index()].to_vec();
    schedule.extend(execution.notdep(race.first, race.second.index()).map(step));
    schedule.push(step(race.second));
    schedule
}

impl Pair {
    fn of(execution: &Execution, race: Race) -> Pair {
        let event = |id| (execution.event(id).point(), execution.event(id).op);
        Pair {
            first: event(race.first),
            second: event(race.second),
        }
    }

    /// Checks whether the two events occur in this order in an execution.
    fn is_in(self, execution: &Execution) -> bool {
        let place = |(at, op): (Point, Op)| {
            let found = execution.event_at(at)?;
            let found_op = execution.event(found).op;
            ((found_op.kind, found_op.object) == (op.kind, op.object)).then_some(found)
        };
        match (place(self.first), place(self.second)) {
            (Some(first), Some(second)) => first < second,
            _ => false,
        }
    }
}

/// Returns the number of events of `one` that `other` also has, with the same operations and
/// values.
fn in_common(one: &Execution, other: &Execution) -> usize {
    let same = one.events().filter(|(_, event)| {
        other.event_at(event.point()).is_some_and(|id| {
            let found = other.event(id);
            (found.op, found.before, found.after) == (event.op, event.before, event.after)
        })
    });
    same.count()
}

/// Returns a set of pairs that no passing execution has completely (the smallest one, if its size
/// is at most `SMALL`), and the number of failing executions that have the set. Returns `None` if
/// there is no such set, or no passing execution.
fn deciding(pairs: &[Pair], all: &[Seen]) -> Option<(Vec<Pair>, u64)> {
    let held = |seen: &Seen| -> u32 {
        let numbered = pairs.iter().enumerate();
        numbered
            .filter(|(_, pair)| pair.is_in(&seen.execution))
            .map(|(number, _)| 1 << number)
            .sum()
    };
    let passing: Vec<u32> = all
        .iter()
        .filter(|seen| seen.is_passing)
        .map(held)
        .collect();
    let decides = |set: u32| passing.iter().all(|candidate| candidate & set != set);
    let everything = (1_u32 << pairs.len()) - 1;
    if passing.is_empty() || !decides(everything) {
        return None;
    }
    let small = (1..=SMALL).find_map(|size| subsets(pairs.len(), size).find(|&set| decides(set)));
    let set = small.unwrap_or_else(|| {
        (0..pairs.len()).rev().fold(everything, |set, pair| {
            let without = set & !(1 << pair);
            if decides(without) { without } else { set }
        })
    });
    let chosen = pairs.iter().enumerate();
    let chosen = chosen.filter(|(number, _)| set & 1 << number != 0);
    let failing = all
        .iter()
        .filter(|seen| !seen.is_passing && held(seen) & set == set);
    Some((
        chosen.map(|(_, pair)| *pair).collect(),
        failing.count() as u64,
    ))
}

/// Returns the subsets of this size of the first `count` numbers, as bits.
fn subsets(count: usize, size: usize) -> impl Iterator<Item = u32> {
    let mut sets: Vec<u32> = vec![0];
    for _ in 0..size {
        let larger = sets.iter().flat_map(|&set| {
            let next = u32::BITS - set.leading_zeros();
            (next..count as u32).map(move |number| set | 1 << number)
        });
        sets = larger.collect();
    }
    sets.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_a_size_are_all_there() {
        assert_eq!(subsets(3, 1).collect::<Vec<u32>>(), [1, 2, 4]);
        assert_eq!(subsets(3, 2).collect::<Vec<u32>>(), [3, 5, 6]);
        assert_eq!(subsets(PAIRS, SMALL).count(), 4060);
        assert_eq!(subsets(2, 3).count(), 0);
    }
}
