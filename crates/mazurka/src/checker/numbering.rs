//! Numbers the executions of a search by several jobs as if one job had run them all. An *epoch*
//! ends when the whole search starts again.

use super::part::{NamedFailure, Position};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The data from which the numbers of executions are computed.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub(crate) struct Numbering {
    /// Number of executions before this epoch.
    pub(super) earlier: u64,
    /// Execution counts of the slices of this epoch. Slices without a failure between them are
    /// merged.
    pub(super) runs: BTreeMap<Position, u64>,
    /// For each failure of this epoch: its slice, and the number of its execution in the slice.
    /// They are the last entries in the search's list of failures (see `split`).
    pub(super) failures: Vec<(Position, u64)>,
}

impl Numbering {
    /// Splits the known failures into those before this epoch, with the numbers of their
    /// executions, and those of this epoch.
    pub(super) fn split(
        &self,
        mut failures: Vec<NamedFailure>,
    ) -> (Vec<(NamedFailure, u64)>, Vec<NamedFailure>) {
        let mut numbered = failures.split_off(failures.len().saturating_sub(self.failures.len()));
        for (failure, (position, execution)) in numbered.iter_mut().zip(&self.failures) {
            failure.position = position.clone();
            failure.shown.execution = *execution;
        }
        let number = |failure: NamedFailure| (failure.clone(), failure.shown.execution);
        (failures.into_iter().map(number).collect(), numbered)
    }
}

/// Merges the execution counts of adjacent slices that have none of these positions between them.
pub(super) fn merged<'p>(
    all: &BTreeMap<Position, u64>,
    places: impl Iterator<Item = &'p Position>,
) -> BTreeMap<Position, u64> {
    let mut places: Vec<&Position> = places.collect();
    places.sort();
    let mut merged: BTreeMap<Position, u64> = BTreeMap::new();
    let mut last = None;
    for (position, runs) in all {
        let gap = places.partition_point(|place| *place <= position);
        match merged.last_entry().filter(|_| last == Some(gap)) {
            Some(mut entry) => {
                let sum = entry.get().saturating_add(*runs);
                entry.insert(sum);
            }
            None => drop(merged.insert(position.clone(), *runs)),
        }
        last = Some(gap);
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::failures::Symptom;
    use crate::checker::ledger::{Known, Ledger, Task};
    use crate::checker::part::{End, Found, Part, Shown, Slice};
    use crate::checker::settings::Settings;
    use crate::checker::tally::Tally;
    use report::FailureKind;
    use std::sync::Arc;
    use std::task::Poll;

    /// Creates a slice with this number of executions. The assertion fails in execution `failing`.
    fn slice(part: &Part, executions: u64, failing: Option<u64>, rest: Vec<Part>) -> Slice {
        let failures = failing.map(|execution| NamedFailure {
            position: part.position.clone(),
            shown: Shown {
                symptom: Symptom {
                    kind: FailureKind::Assertion,
                    message: "x == 1".to_owned(),
                    location: None,
                },
                execution,
                steps: Vec::new(),
            },
            shortest: None,
            extra: 0,
        });
        let tally = Tally {
            executions,
            ..Tally::default()
        };
        Slice {
            found: Found {
                tally,
                failures: failures.into_iter().collect(),
                ..Found::default()
            },
            rest,
            anew: None,
            end: End::Done,
            elapsed_s: 1.0,
            spin: None,
        }
    }

    fn at(position: Position, share: f64) -> Part {
        Part {
            position,
            share,
            ..Part::whole(Arc::default(), Vec::new())
        }
    }

    fn next(ledger: &Ledger) -> Task<'_> {
        match ledger.poll() {
            Poll::Ready(Some(task)) => task,
            Poll::Ready(None) | Poll::Pending => panic!("a task is left"),
        }
    }

    fn numbers(known: &Known) -> Vec<u64> {
        known.failures.iter().map(|(_, number)| *number).collect()
    }

    #[test]
    fn failures_have_the_same_numbers_when_another_process_goes_on() {
        let mut settings = Settings::new();
        settings.keeps_going = true;
        let first = Position::first();
        let whole = vec![at(first.clone(), 1.0)];
        let ledger = Ledger::new(
            2,
            &settings,
            whole,
            Arc::default(),
            (Found::default(), None),
        );
        let (following, given) = (first.next(), first.given(0));
        let task = next(&ledger);
        let rest = vec![at(following, 0.4), at(given, 0.6)];
        let done = slice(&task.part, 10, None, rest);
        task.complete(Ok(done));
        // The part that a single job would search last is searched first. Its third execution
        // fails.
        let later = next(&ledger);
        assert_eq!(later.part.position, first.given(0));
        let rest = vec![at(first.given(0).next(), 0.3)];
        let done = slice(&later.part, 5, Some(3), rest);
        later.complete(Ok(done));
        let known = ledger.close().unwrap();
        assert_eq!(numbers(&known), [13]);
        assert_eq!(known.numbering.runs.len(), 2);
        // Another process resumes. It has the failures with their old numbers.
        let saved = postcard::to_allocvec(&known.numbering).unwrap();
        let numbering = postcard::from_bytes(&saved).unwrap();
        let failures = known.failures.into_iter().map(|(mut failure, number)| {
            failure.position = Position::first();
            failure.shown.execution = number;
            failure
        });
        let found = Found {
            failures: failures.collect(),
            ..known.found
        };
        let rest = known.rest;
        let ledger = Ledger::new(2, &settings, rest, Arc::default(), (found, Some(numbering)));
        let earlier = next(&ledger);
        assert_eq!(earlier.part.position, first.next());
        let done = slice(&earlier.part, 7, Some(2), Vec::new());
        earlier.complete(Ok(done));
        let last = next(&ledger);
        let done = slice(&last.part, 4, Some(1), Vec::new());
        last.complete(Ok(done));
        assert_eq!(numbers(&ledger.close().unwrap()), [12, 20, 23]);
    }
}
