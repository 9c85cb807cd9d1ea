//! Parts of a search: each is a search of its own, which is done in slices.
//!
//! A slice runs some executions of a part from what was saved, in a model of its own, and gives what it found and what is left.
//! It depends on nothing else, so a slice that is lost is done again.

use super::CheckError;
use super::as_json;
use super::coverage::Seen;
use super::failures::{Sighting, Symptom};
use super::search::resumed;
use super::settings::Settings;
use super::tally::Tally;
use super::unhinted_spin::Spin;
use report::{Goal, LeftOut, Limit, SavedStep, Sighted, Suppressed};
use runtime::Names;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Where a slice comes among all slices of the search: in this order one job does the same executions one after the other.
///
/// The slices of a part count upwards. What is given away in a slice comes behind all later slices of the part, and what is given
/// away in a later one before it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(crate) struct Position(Vec<u32>);

impl Position {
    /// The first slice of the whole search.
    pub fn first() -> Position {
        Position(vec![0, 0])
    }

    fn is_first(&self) -> bool {
        self.0 == [0, 0]
    }

    /// The next slice of the same part.
    pub fn next(&self) -> Position {
        let mut next = self.clone();
        if let Some(slice) = next.0.last_mut() {
            *slice = slice.saturating_add(1);
        }
        next
    }

    /// What is left of this slice, before the next one.
    pub fn within(&self) -> Position {
        let mut within = self.clone();
        within.0.extend([0, 0]);
        within
    }

    /// The first slice of the part that is given away in this slice after `number` others.
    pub fn given(&self, number: u32) -> Position {
        let mut given = self.0.clone();
        let slice = given.pop().unwrap_or_default();
        given.pop();
        given.extend([u32::MAX - slice, u32::MAX - number, 0, 0]);
        Position(given)
    }
}

/// A part of a search.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Part {
    pub position: Position,
    /// What the ids of the strategy stand for.
    pub names: Arc<Names>,
    /// What the strategy saved.
    pub strategy: Vec<u8>,
    /// How large it is taken to be, as a part of the whole.
    pub share: f64,
    /// Executions before it, at least: all those of a search without end.
    pub before: u64,
    /// How many executions it has, if it is a part of a search without end.
    pub executions: Option<u64>,
}

impl Part {
    /// A whole search.
    pub fn whole(names: Arc<Names>, strategy: Vec<u8>) -> Part {
        Part {
            position: Position::first(),
            names,
            strategy,
            share: 1.0,
            before: 0,
            executions: None,
        }
    }

    /// Takes the next executions out of a search without end; what comes behind them is left.
    pub fn take_executions(
        &mut self,
        settings: &Settings,
        executions: u64,
    ) -> Result<Part, CheckError> {
        let mut strategy = resumed(settings, &self.strategy)?;
        strategy.skip(executions);
        let rest = Part {
            position: self.position.next(),
            strategy: strategy.save(),
            before: self.before.saturating_add(executions),
            ..self.clone()
        };
        (self.executions, self.share) = (Some(executions), 0.0);
        Ok(rest)
    }

    /// Whether this is the beginning of a search, where nothing is given away: strategies learn from the first executions.
    pub fn is_first(&self) -> bool {
        self.position.is_first()
    }
}

/// How much is done in a slice.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Portion {
    pub executions: u64,
    /// How many parts are given away at the end.
    pub parts: u32,
    /// After so many executions it ends if others have nothing to do.
    pub least: u64,
    /// And how many parts it then gives away.
    pub parts_in_haste: u32,
    /// Executions of other parts before.
    pub earlier: u64,
}

/// What became of a slice.
#[derive(Serialize, Deserialize)]
pub(super) struct Slice {
    pub found: Found,
    /// What is left to do, what comes first in front.
    pub rest: Vec<Part>,
    /// If the whole search has begun anew and knows more than before: that. The slice is then the first one of this search.
    pub anew: Option<Arc<Names>>,
    pub end: End,
    /// What it took.
    pub elapsed_s: f64,
    /// Of the clock of this process.
    #[serde(skip)]
    pub spin: Option<Spin>,
}

/// How a slice ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum End {
    /// The portion was done.
    Done,
    /// A limit was reached, between two executions.
    Halted(#[serde(with = "as_json")] Limit),
    /// It was stopped in the middle of an execution: nobody can go on from there.
    BrokenOff(#[serde(with = "as_json")] Limit),
}

/// What was found in parts of a search.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Found {
    pub tally: Tally,
    pub met: Vec<Met>,
    pub warnings: Vec<String>,
    pub left_out: Vec<LeftOut>,
    pub suppressed: Vec<Suppressed>,
    pub goals: Vec<Goal>,
    pub seen: Seen,
}

/// A failure that was met, in names.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Met {
    /// The slice in which it was met.
    pub position: Position,
    pub shown: Shown,
    /// A shorter execution that fails likewise, and how many were tried.
    pub shortest: Option<Shown>,
    pub extra: u64,
}

/// An execution that fails.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Shown {
    pub symptom: Symptom,
    /// Its number in the slice, from 1.
    pub execution: u64,
    pub steps: Vec<SavedStep>,
}

impl Shown {
    pub fn of(sighting: &Sighting, names: &Names) -> Shown {
        Shown {
            symptom: sighting.symptom.clone(),
            execution: sighting.execution,
            steps: names.save(&sighting.schedule),
        }
    }

    /// What the trail of a process shows.
    pub fn sighted(sighted: &Sighted) -> Shown {
        Shown {
            symptom: Symptom {
                kind: sighted.kind,
                message: sighted.message.clone(),
                location: sighted.location.clone(),
            },
            execution: sighted.execution,
            steps: sighted.steps.clone(),
        }
    }

    /// The same for the trail of a search in which the execution has this number.
    pub fn into_sighted(self, execution: u64) -> Sighted {
        Sighted {
            kind: self.symptom.kind,
            message: self.symptom.message,
            location: self.symptom.location,
            execution,
            steps: self.steps,
        }
    }

    /// The same in the ids of these names.
    pub fn sighting(&self, execution: u64, names: &mut Names) -> Result<Sighting, CheckError> {
        let schedule = names.load(&self.steps);
        Ok(Sighting {
            symptom: self.symptom.clone(),
            execution,
            schedule: schedule.map_err(|error| CheckError::Misfit(error.to_string()))?,
        })
    }
}

impl Found {
    /// Adds what was found elsewhere.
    pub fn add(&mut self, other: Found) {
        self.tally.add(&other.tally);
        self.met.extend(other.met);
        extend(&mut self.warnings, other.warnings);
        extend(&mut self.left_out, other.left_out);
        extend(&mut self.suppressed, other.suppressed);
        for goal in other.goals {
            let mut own = self.goals.iter_mut();
            match own.find(|own| (&own.name, &own.location) == (&goal.name, &goal.location)) {
                Some(own) => own.is_reached |= goal.is_reached,
                None => self.goals.push(goal),
            }
        }
        self.seen.add(other.seen);
    }
}

/// Adds what is not there yet.
fn extend<T: PartialEq>(all: &mut Vec<T>, others: Vec<T>) {
    for other in others {
        if !all.contains(&other) {
            all.push(other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_away_comes_behind_the_rest_and_first_what_was_given_last() {
        let first = Position::first();
        let second = first.next();
        let order = [
            first.clone(),
            first.within(),
            second.clone(),
            second.next(),
            second.given(1),
            second.given(0),
            second.given(0).next(),
            first.given(2),
            first.given(0),
            first.given(0).next(),
            first.given(0).given(0),
        ];
        assert!(order.is_sorted(), "{order:?}");
        assert!(order.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
