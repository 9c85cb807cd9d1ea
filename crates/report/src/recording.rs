//! The record of a run under a safe trace, and whether the run kept the constraints. A *safe trace*
//! contains the verified schedules of a program, as constraints on the order of events.

use crate::Inputs;
use crate::safe_trace::{Case, Constraint, Point};
use crate::stored_file::{self, Kind, StoredFileError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The kind of file.
const RECORDING: Kind = Kind {
    name: "record",
    command: "mazurka run --record",
    version: 1,
};

/// The order of events in a run.
///
/// ```
/// use report::{Case, Constraint, Point, Recorded, Recording};
///
/// let thread = |path: &str, events: &[(u64, u64)]| Recorded { path: path.to_owned(), events: events.to_vec() };
/// let recording = Recording {
///     threads: vec![thread("0", &[(1, 2), (5, 6)]), thread("0.0", &[(3, 4)])],
///     ..Recording::default()
/// };
/// let point = |thread, index| Point { thread, index };
/// let mut case = Case { threads: vec!["0".to_owned(), "0.0".to_owned()], ..Case::default() };
/// case.constraints = vec![Constraint { first: point(0, 1), then: point(1, 1) }];
/// assert_eq!(recording.adherence(&case).broken, []);
/// case.constraints = vec![Constraint { first: point(0, 2), then: point(1, 1) }];
/// assert_eq!(recording.adherence(&case).broken, case.constraints);
/// ```
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Recording {
    /// The program's checksum, from [`SafeTrace::checksum_of`](crate::SafeTrace::checksum_of).
    #[serde(default)]
    pub program_checksum: String,
    /// The inputs of the run.
    pub inputs: Inputs,
    /// The threads of the run.
    pub threads: Vec<Recorded>,
}

/// The events of a thread.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Recorded {
    /// Its spawn path.
    pub path: String,
    /// For each event, two values of a counter that all threads share. The first was read after the
    /// thread had finished waiting for others, the second after the event had happened. The second
    /// is 0 if the end of the event was not recorded.
    pub events: Vec<(u64, u64)>,
}

/// Whether a run kept the constraints.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Adherence {
    /// The number of constraints that it reached and kept.
    pub kept: usize,
    /// The number of constraints whose later event did not happen.
    pub not_reached: usize,
    /// The constraints that it broke.
    pub broken: Vec<Constraint>,
}

impl Recording {
    /// Compares the run with the constraints of a case.
    pub fn adherence(&self, case: &Case) -> Adherence {
        let by_path: BTreeMap<&str, &Recorded> = self
            .threads
            .iter()
            .map(|thread| (&*thread.path, thread))
            .collect();
        let at = |point: Point| {
            let path = case.threads.get(point.thread as usize)?;
            let index = (point.index as usize).checked_sub(1)?;
            by_path.get(&**path)?.events.get(index).copied()
        };
        let mut adherence = Adherence::default();
        for constraint in &case.constraints {
            match (at(constraint.first), at(constraint.then)) {
                (_, None) => adherence.not_reached += 1,
                (Some((_, end)), Some((start, _))) if end > 0 && end < start => adherence.kept += 1,
                (_, Some(_)) => adherence.broken.push(*constraint),
            }
        }
        adherence
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, is of another kind or version, or is damaged.
    pub fn load(path: &Path) -> Result<Recording, StoredFileError> {
        stored_file::load(path, RECORDING)
    }

    /// Writes the file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), StoredFileError> {
        stored_file::save(path, RECORDING, self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording() -> Recording {
        let thread = |path: &str, events: &[(u64, u64)]| Recorded {
            path: path.to_owned(),
            events: events.to_vec(),
        };
        Recording {
            program_checksum: "1f".to_owned(),
            inputs: Inputs::from([("x".to_owned(), 3)]),
            threads: vec![thread("0", &[(1, 3), (7, 0)]), thread("0.0", &[(2, 4)])],
        }
    }

    fn adherence(first: (u32, u32), then: (u32, u32)) -> Adherence {
        let case = Case {
            threads: vec!["0".to_owned(), "0.0".to_owned(), "0.1".to_owned()],
            constraints: vec![Constraint {
                first: first.into(),
                then: then.into(),
            }],
            ..Case::default()
        };
        recording().adherence(&case)
    }

    #[test]
    fn events_that_overlap_break_a_constraint() {
        assert_eq!(adherence((0, 1), (1, 1)).broken.len(), 1);
        assert_eq!(adherence((1, 1), (0, 2)).kept, 1);
    }

    #[test]
    fn what_waited_for_an_event_that_did_not_happen_broke_the_constraint() {
        assert_eq!(adherence((2, 1), (1, 1)).broken.len(), 1);
        assert_eq!(adherence((0, 2), (1, 1)).broken.len(), 1);
    }

    #[test]
    fn an_event_that_did_not_happen_breaks_nothing() {
        assert_eq!(adherence((0, 1), (1, 2)).not_reached, 1);
    }

    #[test]
    fn what_is_saved_is_loaded() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run");
        recording().save(&path).unwrap();
        assert_eq!(Recording::load(&path).unwrap(), recording());
    }
}
