//! Parts of a search. Each part is an independent search, which runs in slices.
//!
//! A slice runs some executions of a part from its saved state, in its own model, and returns its
//! results and the remaining parts. It depends on nothing else, so a lost slice can be repeated.

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

/// The position of a slice in the order in which a single job runs all slices of the search.
///
/// Slices of a part count upwards. Parts that a slice gives away come after all later slices of its
/// part, and after the parts that later slices give away.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(crate) struct Position(Vec<u32>);

impl Position {
    /// Returns the position of the first slice of the whole search.
    pub fn first() -> Position {
        Position(vec![0, 0])
    }

    fn is_first(&self) -> bool {
        self.0 == [0, 0]
    }

    /// Returns the position of the next slice of the same part.
    pub fn next(&self) -> Position {
        let mut next = self.clone();
        if let Some(slice) = next.0.last_mut() {
            *slice = slice.saturating_add(1);
        }
        next
    }

    /// Returns the position of the rest of this slice, before the next slice.
    pub fn within(&self) -> Position {
        let mut within = self.clone();
        within.0.extend([0, 0]);
        within
    }

    /// Returns the position of the first slice of a part that this slice gives away. `number` is
    /// the number of this part among those that the slice gives away.
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
    /// The names of the threads and objects whose ids the strategy contains.
    pub names: Arc<Names>,
    /// The saved strategy.
    pub strategy: Vec<u8>,
    /// Estimated size, as a fraction of the whole search.
    pub share: f64,
    /// Minimum number of executions before this part. Exact for an endless search (`random` or
    /// `pct`).
    pub before: u64,
    /// Number of executions, for a part of an endless search.
    pub executions: Option<u64>,
}

impl Part {
    /// Creates the part that is a whole search.
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

    /// Limits this part of an endless search to the next executions. Returns the remaining part.
    pub fn take_executions(
        &mut self,
        settings: &Settings,
        executions: u64,
    ) -> Result<Part, CheckError> {
        let mut settings = settings.clone();
        settings.adopt(&self.names);
        let mut strategy = resumed(&settings, &self.strategy)?;
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

    /// Checks whether this is the first slice of a search. It is not shortened, because strategies
    /// learn from the first executions.
    pub fn is_first(&self) -> bool {
        self.position.is_first()
    }
}

/// The amount of work in a slice.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Portion {
    pub executions: u64,
    /// Number of parts to give away at the end.
    pub parts: u32,
    /// Number of executions after which the slice ends if other jobs have nothing to do.
    pub least: u64,
    /// Number of parts to give away if the slice ends for that reason.
    pub parts_at_early_end: u32,
    /// Executions of other parts before this slice.
    pub earlier: u64,
}

/// The result of a slice.
#[derive(Serialize, Deserialize)]
pub(super) struct Slice {
    pub found: Found,
    /// The remaining parts, in the order of the search.
    pub rest: Vec<Part>,
    /// The new names, if the whole search started again. This slice is then the first one.
    pub anew: Option<Arc<Names>>,
    pub end: End,
    /// Duration in seconds.
    pub elapsed_s: f64,
    /// A thread that spins without a hint. Not sent to other processes, because it contains a time
    /// by the clock of this process.
    #[serde(skip)]
    pub spin: Option<Spin>,
}

/// The way in which a slice ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum End {
    /// The portion is done.
    Done,
    /// A limit was reached between two executions.
    Halted(#[serde(with = "as_json")] Limit),
    /// The slice was stopped in the middle of an execution, so it cannot be resumed.
    BrokenOff(#[serde(with = "as_json")] Limit),
}

/// The results of parts of a search.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Found {
    pub tally: Tally,
    pub failures: Vec<NamedFailure>,
    pub warnings: Vec<String>,
    pub left_out: Vec<LeftOut>,
    pub suppressed: Vec<Suppressed>,
    pub goals: Vec<Goal>,
    pub seen: Seen,
}

/// A failure, with names instead of ids.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct NamedFailure {
    /// The slice with the failure.
    pub position: Position,
    pub shown: Shown,
    /// A shorter execution that fails in the same way, if one was found.
    pub shortest: Option<Shown>,
    /// The number of executions that were run to find a shorter one.
    pub extra: u64,
}

/// An execution that fails.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Shown {
    pub symptom: Symptom,
    /// The number of the execution in its slice, from 1.
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

    /// Converts a failure from the trail of a process.
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

    /// Converts the failure for the trail of a search, in which the execution has this number.
    pub fn into_sighted(self, execution: u64) -> Sighted {
        Sighted {
            kind: self.symptom.kind,
            message: self.symptom.message,
            location: self.symptom.location,
            execution,
            steps: self.steps,
        }
    }

    /// Converts the failure to the ids of these names.
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
    /// Checks whether one of the failures ends the search.
    pub fn ends_search(&self, settings: &Settings) -> bool {
        let mut failures = self.failures.iter();
        failures.any(|failure| settings.ends_after(failure.shown.symptom.kind))
    }

    /// Adds the results of another part.
    pub fn add(&mut self, other: Found) {
        self.tally.add(&other.tally);
        self.failures.extend(other.failures);
        extend(&mut self.warnings, other.warnings);
        extend(&mut self.left_out, other.left_out);
        extend(&mut self.suppressed, other.suppressed);
        for goal in other.goals {
            let mut goals = self.goals.iter_mut();
            match goals.find(|known| (&known.name, &known.location) == (&goal.name, &goal.location))
            {
                Some(known) => known.is_reached |= goal.is_reached,
                None => self.goals.push(goal),
            }
        }
        self.seen.add(other.seen);
    }
}

/// Adds elements that are missing.
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
    fn parts_given_away_follow_the_rest_with_the_most_recent_first() {
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
