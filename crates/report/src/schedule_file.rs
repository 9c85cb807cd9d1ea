//! A schedule that can be saved and run again in another process.

use crate::stored_file::{self, Kind, StoredFileError, StoredProblem};
use crate::{Conditions, FailureKind};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The kind of file.
const SCHEDULE: Kind = Kind {
    name: "schedule",
    command: "check",
    version: 1,
};

/// A schedule with names that do not depend on the process, and the failure that the schedule
/// shows.
///
/// ```
/// use report::{Conditions, FailureKind, SavedStep, ScheduleFile};
///
/// let schedule = ScheduleFile {
///     program: "lost-update".to_owned(),
///     kind: FailureKind::Panic,
///     message: "an update was lost".to_owned(),
///     conditions: Conditions::default(),
///     coarse: Vec::new(),
///     recipe: None,
///     by_accesses: false,
///     steps: vec![SavedStep { thread: "0".to_owned(), choices: vec![0, 0], reads: Vec::new() }],
/// };
/// let text = schedule.to_json();
/// assert_eq!(ScheduleFile::from_json(&text).unwrap(), schedule);
/// assert!(ScheduleFile::from_json(&text.replace("[0,0]", "[0]")).is_err());
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ScheduleFile {
    /// The program, as passed to `check`, or the name of a test.
    pub program: String,
    /// The kind of failure that the schedule shows.
    pub kind: FailureKind,
    /// The failure that the schedule shows, for people.
    pub message: String,
    /// The conditions under which the program was run.
    pub conditions: Conditions,
    /// Objects whose operations are treated as more dependent than at the start of a search, in the
    /// notation of the front-end. The steps are valid only with these objects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub coarse: Vec<String>,
    /// How the program is built, if the front-end checks machine code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipe: Option<Recipe>,
    /// Whether a step is an access with the operations that accompany it, as in a search, instead
    /// of a single operation.
    #[serde(default)]
    pub by_accesses: bool,
    /// The steps from the start.
    pub steps: Vec<SavedStep>,
}

/// How a program in machine code is built and started, as on the command line.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Recipe {
    /// Sources, objects and libraries, or the program itself.
    pub files: Vec<String>,
    /// The compiler's flags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// The compiler, if the user chose it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiler: Option<String>,
    /// The program's arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
}

/// Consecutive steps of one thread.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SavedStep {
    /// The spawn path of the thread: `0` is main, `0.2` its third child (counted from 0).
    pub thread: String,
    /// The chosen alternatives, one per step.
    pub choices: Vec<u32>,
    /// What each step reads, one number per step; empty if all of them read the last write
    /// ([`ReadsFrom::code`](explore::ReadsFrom::code)).
    #[serde(default)]
    pub reads: Vec<u32>,
}

impl ScheduleFile {
    /// Returns the number of steps.
    pub fn length(&self) -> usize {
        self.steps.iter().map(|run| run.choices.len()).sum()
    }

    /// Reads a saved schedule.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, is of another kind or version, or is damaged.
    pub fn load(path: &Path) -> Result<ScheduleFile, StoredFileError> {
        stored_file::load(path, SCHEDULE)
    }

    /// Saves the schedule. A concurrent reader finds either the previous content or all of the new
    /// content.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), StoredFileError> {
        stored_file::save(path, SCHEDULE, self)
    }

    /// Returns the content of the file.
    pub fn to_json(&self) -> String {
        stored_file::to_json(SCHEDULE, self)
    }

    /// Parses the content of a file.
    ///
    /// # Errors
    /// Returns an error if the content is of another kind or version, or is damaged.
    pub fn from_json(text: &str) -> Result<ScheduleFile, StoredProblem> {
        stored_file::from_json(text, SCHEDULE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule() -> ScheduleFile {
        ScheduleFile {
            program: "abba:2".to_owned(),
            kind: FailureKind::Deadlock,
            message: "main waits for T1".to_owned(),
            conditions: Conditions::default(),
            coarse: vec!["polled 0.1".to_owned()],
            recipe: None,
            by_accesses: false,
            steps: vec![
                SavedStep {
                    thread: "0".to_owned(),
                    choices: vec![0, 0, 0],
                    reads: Vec::new(),
                },
                SavedStep {
                    thread: "0.1".to_owned(),
                    choices: vec![1],
                    reads: Vec::new(),
                },
            ],
        }
    }

    #[test]
    fn a_saved_schedule_is_loaded_as_it_was() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.schedule.json");
        schedule().save(&path).unwrap();
        assert_eq!(ScheduleFile::load(&path).unwrap(), schedule());
        assert_eq!(schedule().length(), 4);
    }

    #[test]
    fn a_changed_step_is_noticed() {
        let text = schedule().to_json().replace("[1]", "[0]");
        assert!(matches!(
            ScheduleFile::from_json(&text),
            Err(StoredProblem::Corrupt(_))
        ));
    }
}
