//! Safe schedules: prefixes of correct executions whose continuations are all verified.
//!
//! Metzler, Saissi, Bokor, Suri, "Safe execution of concurrent programs by enforcement of
//! scheduling constraints": a run that keeps the constraints is a verified execution, up to the
//! order of independent events.

mod cycle;
mod diagram;
mod dot;
mod text;

use crate::condition::{Condition, Inputs};
use crate::stored_file::{self, Kind, StoredFileError, StoredProblem};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The kind of file.
const SAFE_TRACE: Kind = Kind {
    name: "safe trace",
    command: "verify",
    version: 1,
};

/// A program's schedules that are known to be safe, for each assignment of its inputs.
///
/// ```
/// use report::{Case, Condition, Constraint, Inputs, Point, SafeTrace};
///
/// let first = Point { thread: 0, index: 2 };
/// let then = Point { thread: 1, index: 1 };
/// let case = Case {
///     condition: Condition::always(),
///     threads: vec!["0.0".to_owned(), "0.1".to_owned()],
///     constraints: vec![Constraint { first, then }],
///     ..Case::default()
/// };
/// let trace = SafeTrace { program: "queue".to_owned(), cases: vec![case], ..SafeTrace::default() };
/// assert_eq!(SafeTrace::from_json(&trace.to_json()).unwrap(), trace);
/// assert_eq!(trace.case(&Inputs::new()).unwrap().constraints.len(), 1);
/// ```
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct SafeTrace {
    /// The program's name.
    pub program: String,
    /// The [checksum](SafeTrace::checksum_of) of the program's file; empty if there is no file.
    pub program_checksum: String,
    /// The arguments with which the program was verified. `{n}` stands for the value of the input
    /// `n`.
    pub arguments: Vec<String>,
    /// The inputs that the program or its arguments declare.
    pub inputs: Vec<Input>,
    /// Whether plain accesses are events.
    pub interleaves_plain: bool,
    /// The verified cases. Exactly one condition holds for each verified assignment of the inputs.
    pub cases: Vec<Case>,
}

/// An input and the range of its verified values.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// Its least value.
    pub lowest: i64,
    /// Its greatest value.
    pub highest: i64,
}

/// An admissible prefix: every execution that begins with it was verified.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Case {
    /// The inputs to which it applies.
    pub condition: Condition,
    /// Spawn paths (`0` is the main thread, `0.2` its third child). A thread keeps its number in
    /// later versions.
    pub threads: Vec<String>,
    /// The order in which events must happen, beyond the program's own synchronization.
    pub constraints: Vec<Constraint>,
    /// The alternatives that must be taken, if there are several.
    pub choices: Vec<Choice>,
    /// The events in constraints and choices, for people and to detect a different run.
    pub events: Vec<Described>,
    /// The number of events of the first execution.
    pub events_of_execution: u64,
    /// The number of events of the prefix.
    pub events_of_prefix: u64,
    /// The number of constraints of the whole first execution.
    pub constraints_at_first: u64,
    /// The number of executions that were verified for the case, over all assignments.
    pub executions: u64,
    /// Whether nothing is left to verify.
    pub is_complete: bool,
    /// The bugs that the constraints prevent.
    pub excluded: Vec<String>,
}

/// An event: the index of its thread in [`Case::threads`], and its number among the thread's events
/// in a search, from 1. These events are operations with an access, and choices.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(from = "(u32, u32)", into = "(u32, u32)")]
pub struct Point {
    /// Its thread.
    pub thread: u32,
    /// Its number.
    pub index: u32,
}

impl From<(u32, u32)> for Point {
    fn from((thread, index): (u32, u32)) -> Point {
        Point { thread, index }
    }
}

impl From<Point> for (u32, u32) {
    fn from(point: Point) -> (u32, u32) {
        (point.thread, point.index)
    }
}

/// An order that a run must keep.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Constraint {
    /// The event that happens first.
    pub first: Point,
    /// The event that waits for the first event.
    pub then: Point,
}

/// The alternative that an event must take.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Choice {
    /// The event.
    pub at: Point,
    /// The alternative, counted from 0.
    pub alternative: u32,
}

/// A description of an event, for people.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Described {
    /// The event.
    pub at: Point,
    /// The operation: `x.load() -> 3`.
    pub operation: String,
    /// The kind of the operation, which does not depend on values: `Load`.
    pub kind: String,
    /// The place in the source, as `file:line:column`, if known.
    pub place: Option<String>,
}

impl Default for Case {
    fn default() -> Case {
        Case {
            condition: Condition::always(),
            threads: Vec::new(),
            constraints: Vec::new(),
            choices: Vec::new(),
            events: Vec::new(),
            events_of_execution: 0,
            events_of_prefix: 0,
            constraints_at_first: 0,
            executions: 0,
            is_complete: false,
            excluded: Vec::new(),
        }
    }
}

impl Case {
    /// Checks whether this may be a later version of the other case. Both must be for the same
    /// program and the same execution, and this prefix must not be longer. (A case for several
    /// inputs may be split into two cases in the other version, each with its own execution.)
    pub fn relaxes(&self, other: &Case) -> bool {
        let is_same = |event: &Described| {
            let known = other.events.iter().find(|known| known.at == event.at);
            known.is_none_or(|known| known.kind == event.kind && known.place == event.place)
        };
        let is_longer = self.events_of_execution == other.events_of_execution
            && self.events_of_prefix > other.events_of_prefix;
        !is_longer && self.threads.starts_with(&other.threads) && self.events.iter().all(is_same)
    }

    /// Returns the same case with other thread numbers: `threads` contains the spawn paths by new
    /// number, and `number` turns an old number into the new one.
    pub fn renumbered(self, threads: Vec<String>, number: impl Fn(u32) -> u32) -> Case {
        let point = |at: Point| Point {
            thread: number(at.thread),
            ..at
        };
        let mut constraints: Vec<Constraint> = self
            .constraints
            .iter()
            .map(|constraint| Constraint {
                first: point(constraint.first),
                then: point(constraint.then),
            })
            .collect();
        constraints.sort_unstable();
        let choice = |choice: Choice| Choice {
            at: point(choice.at),
            ..choice
        };
        let described = |event: Described| Described {
            at: point(event.at),
            ..event
        };
        Case {
            threads,
            constraints,
            choices: self.choices.into_iter().map(choice).collect(),
            events: self.events.into_iter().map(described).collect(),
            ..self
        }
    }
}

impl SafeTrace {
    /// Returns the case for these inputs, or `None` if the inputs were not verified.
    pub fn case(&self, inputs: &Inputs) -> Option<&Case> {
        let is_in = |input: &Input| {
            let value = inputs.get(&input.name);
            value.is_some_and(|value| (input.lowest..=input.highest).contains(value))
        };
        if !self.inputs.iter().all(is_in) {
            return None;
        }
        self.cases.iter().find(|case| case.condition.holds(inputs))
    }

    /// Returns the largest number of constraints in a case.
    pub fn constraints(&self) -> usize {
        let cases = self.cases.iter();
        cases.map(|case| case.constraints.len()).max().unwrap_or(0)
    }

    /// Returns the checksum of a program's content.
    pub fn checksum_of(program: &[u8]) -> String {
        stored_file::checksum(program)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, is of another kind or version, or is damaged.
    pub fn load(path: &Path) -> Result<SafeTrace, StoredFileError> {
        let trace: SafeTrace = stored_file::load(path, SAFE_TRACE)?;
        match trace.contradiction() {
            None => Ok(trace),
            Some(problem) => Err(StoredFileError {
                path: path.to_owned(),
                problem,
            }),
        }
    }

    /// Writes the file. A concurrent reader finds either the previous content or all of the new
    /// content.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), StoredFileError> {
        stored_file::save(path, SAFE_TRACE, self)
    }

    /// Returns the content of the file.
    pub fn to_json(&self) -> String {
        stored_file::to_json(SAFE_TRACE, self)
    }

    /// Parses the content of a file.
    ///
    /// # Errors
    /// Returns an error if the content is of another kind or version, or is damaged.
    pub fn from_json(text: &str) -> Result<SafeTrace, StoredProblem> {
        let trace: SafeTrace = stored_file::from_json(text, SAFE_TRACE)?;
        trace.contradiction().map_or(Ok(trace), Err)
    }

    /// Returns a problem if the constraints contain a cycle, so that a run would wait forever.
    fn contradiction(&self) -> Option<StoredProblem> {
        let mut cases = self.cases.iter();
        let is_cyclic = cases.any(|case| cycle::is_cyclic(&case.constraints));
        is_cyclic.then_some(StoredProblem::Contradictory {
            kind: SAFE_TRACE,
            what: "its constraints form a cycle, so that no run can keep them",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_version_has_the_same_threads_and_events_and_no_longer_prefix() {
        let described = |index, kind: &str| Described {
            at: Point { thread: 0, index },
            operation: String::new(),
            kind: kind.to_owned(),
            place: None,
        };
        let first = Case {
            threads: vec!["0".to_owned()],
            events: vec![described(1, "Load"), described(2, "Store")],
            events_of_execution: 9,
            events_of_prefix: 8,
            ..Case::default()
        };
        let later = Case {
            threads: vec!["0".to_owned(), "0.0".to_owned()],
            events: vec![described(2, "Store"), described(3, "Load")],
            events_of_prefix: 5,
            ..first.clone()
        };
        assert!(first.relaxes(&first) && later.relaxes(&first) && !first.relaxes(&later));
        let others = [
            Case {
                threads: vec!["0.0".to_owned()],
                ..later.clone()
            },
            Case {
                events: vec![described(1, "Store")],
                ..later.clone()
            },
            Case {
                events_of_prefix: 9,
                ..later.clone()
            },
        ];
        assert!(others.iter().all(|other| !other.relaxes(&first)));
    }
}
