//! A schedule that can be saved and run again in another process.

use crate::FailureKind;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process;

/// Version of the file format.
const VERSION: u32 = 1;

/// A schedule in names that do not depend on the process, with what it shows.
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
///     steps: vec![SavedStep { thread: "0".to_owned(), choices: vec![0, 0] }],
/// };
/// let text = schedule.to_json();
/// assert_eq!(ScheduleFile::from_json(&text).unwrap(), schedule);
/// assert!(ScheduleFile::from_json(&text.replace("[0,0]", "[0]")).is_err());
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ScheduleFile {
    /// The program, as `check` was told: `NAME:SIZE`, or the name of a test.
    pub program: String,
    /// What the schedule shows.
    pub kind: FailureKind,
    /// What the schedule shows, for people.
    pub message: String,
    /// What the program was run under.
    pub conditions: Conditions,
    /// Objects whose operations were taken to depend on each other more than at the start of a search, in
    /// the words of the front-end: the steps fit only so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub coarse: Vec<String>,
    /// How the program is made, if it is in machine code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipe: Option<Recipe>,
    /// A step is an access, as in a search, with the operations that come along; not one operation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_accesses: bool,
    /// The steps from the start.
    pub steps: Vec<SavedStep>,
}

/// How a program in machine code is made and started, in the words of the command line.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Recipe {
    /// Sources, objects and libraries; or the program itself.
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

/// What a program is run under, as far as its executions depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Conditions {
    /// A thread stops after as many operations.
    pub max_events: u32,
    /// A thread stops at the timed operation after as many expired ones.
    pub timeouts: u32,
    /// Each panic is a failure, also one that the program observes.
    pub panics_fail: bool,
    /// Threads may still wait when the main thread has returned.
    pub waiting_after_main: bool,
    /// Plain accesses of a native program are events.
    #[serde(default)]
    pub interleaves_plain: bool,
    /// A thread stops when it comes by the same place of a native program more often.
    #[serde(default)]
    pub unroll: Option<u32>,
}

impl Default for Conditions {
    fn default() -> Conditions {
        Conditions {
            max_events: 10_000,
            timeouts: 2,
            panics_fail: false,
            waiting_after_main: false,
            interleaves_plain: false,
            unroll: None,
        }
    }
}

/// A run of steps of one thread.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SavedStep {
    /// Spawn path of the thread: `0` is main, `0.2` its third child (counted from 0).
    pub thread: String,
    /// The alternatives chosen, one per step.
    pub choices: Vec<u32>,
}

/// A schedule file that cannot be used: where, what and what to do, in one line.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", path.display())]
pub struct ScheduleFileError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: ScheduleProblem,
}

/// What is wrong with a saved schedule, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum ScheduleProblem {
    /// The file cannot be read.
    #[error("the schedule cannot be read ({0}); give the file that `check` wrote")]
    NotReadable(io::Error),
    /// It is a directory, a device or a pipe.
    #[error("this is no regular file; give the file that `check` wrote")]
    NotAFile,
    /// The file cannot be written.
    #[error("the schedule cannot be written ({0}); choose another place for it")]
    NotWritable(io::Error),
    /// The text is no schedule.
    #[error("this is no schedule file ({0}); give the file that `check` wrote")]
    NotASchedule(String),
    /// It was written by another version.
    #[error(
        "the schedule has format {0}, but this version reads format {VERSION}; check the program again to get a new one"
    )]
    OtherVersion(u64),
    /// It was changed or damaged.
    #[error(
        "the schedule is corrupt, its checksum does not fit; check the program again to get a new one"
    )]
    Corrupt,
}

impl ScheduleFile {
    /// The number of steps.
    pub fn length(&self) -> usize {
        self.steps.iter().map(|run| run.choices.len()).sum()
    }

    /// Reads a saved schedule.
    pub fn load(path: &Path) -> Result<ScheduleFile, ScheduleFileError> {
        content(path)
            .and_then(|text| ScheduleFile::from_json(&text))
            .map_err(|problem| ScheduleFileError {
                path: path.to_owned(),
                problem,
            })
    }

    /// Saves the schedule. Whoever reads the file meanwhile finds what was there before, or all of this.
    pub fn save(&self, path: &Path) -> Result<(), ScheduleFileError> {
        self.write_to(path).map_err(|error| ScheduleFileError {
            path: path.to_owned(),
            problem: ScheduleProblem::NotWritable(error),
        })
    }

    fn write_to(&self, path: &Path) -> io::Result<()> {
        let is_special = fs::metadata(path).is_ok_and(|file| !file.is_file());
        if is_special {
            return fs::write(path, self.to_json());
        }
        // Other processes, and other threads of this one, may save under the same name at the same time.
        let mut fresh = path.as_os_str().to_owned();
        fresh.push(format!(".{}-{self:p}", process::id()));
        let result = fs::write(&fresh, self.to_json()).and_then(|()| fs::rename(&fresh, path));
        if result.is_err() {
            let _ = fs::remove_file(&fresh);
        }
        result
    }

    /// The content of the file.
    pub fn to_json(&self) -> String {
        let stored = Stored {
            format: VERSION,
            checksum: self.checksum(),
            schedule: self.clone(),
        };
        let mut text = serde_json::to_string(&stored).expect("a schedule has no maps to serialise");
        text.push('\n');
        text
    }

    /// Reads the content of a file.
    pub fn from_json(text: &str) -> Result<ScheduleFile, ScheduleProblem> {
        let head: Head = serde_json::from_str(text).map_err(no_schedule)?;
        if head.format != u64::from(VERSION) {
            return Err(ScheduleProblem::OtherVersion(head.format));
        }
        let stored: Stored = serde_json::from_str(text).map_err(no_schedule)?;
        if stored.checksum != stored.schedule.checksum() {
            return Err(ScheduleProblem::Corrupt);
        }
        Ok(stored.schedule)
    }

    fn checksum(&self) -> String {
        let content = serde_json::to_vec(self).expect("a schedule has no maps to serialise");
        format!("{:016x}", fnv1a(&content))
    }
}

/// The text of a file that begins as a schedule does.
fn content(path: &Path) -> Result<String, ScheduleProblem> {
    let kind = fs::metadata(path).map_err(ScheduleProblem::NotReadable)?;
    if !kind.is_file() {
        return Err(ScheduleProblem::NotAFile);
    }
    let mut file = BufReader::new(File::open(path).map_err(ScheduleProblem::NotReadable)?);
    let start = file.fill_buf().map_err(ScheduleProblem::NotReadable)?;
    if !start.trim_ascii_start().starts_with(b"{") {
        let what = "it does not begin with a brace".to_owned();
        return Err(ScheduleProblem::NotASchedule(what));
    }
    let mut text = String::new();
    file.read_to_string(&mut text)
        .map_err(ScheduleProblem::NotReadable)?;
    Ok(text)
}

fn no_schedule(error: serde_json::Error) -> ScheduleProblem {
    ScheduleProblem::NotASchedule(error.to_string())
}

/// The version alone, so that another version is recognised whatever else it has.
#[derive(Deserialize)]
struct Head {
    format: u64,
}

/// The file.
#[derive(Serialize, Deserialize)]
struct Stored {
    format: u32,
    checksum: String,
    #[serde(flatten)]
    schedule: ScheduleFile,
}

/// FNV-1a, 64 bits (Fowler, Noll, Vo).
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
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
                },
                SavedStep {
                    thread: "0.1".to_owned(),
                    choices: vec![1],
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
            Err(ScheduleProblem::Corrupt)
        ));
    }

    #[test]
    fn another_version_is_named() {
        let problem = ScheduleFile::from_json(r#"{"format": 7, "whatever": []}"#).unwrap_err();
        assert!(problem.to_string().contains("format 7"), "{problem}");
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let error = ScheduleFile::load(&directory.path().join("missing")).unwrap_err();
        assert!(matches!(error.problem, ScheduleProblem::NotReadable(_)));
        assert!(error.to_string().contains("missing"), "{error}");
    }

    #[test]
    fn what_is_no_regular_file_is_not_read() {
        for path in ["/dev/zero", "."] {
            let error = ScheduleFile::load(Path::new(path)).unwrap_err();
            assert!(
                matches!(error.problem, ScheduleProblem::NotAFile),
                "{error}"
            );
        }
    }

    #[test]
    fn a_file_that_begins_otherwise_is_not_read_to_its_end() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("huge");
        // A hole of a terabyte, which no memory holds.
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        let error = ScheduleFile::load(&path).unwrap_err();
        assert!(
            matches!(error.problem, ScheduleProblem::NotASchedule(_)),
            "{error}"
        );
    }

    #[test]
    fn each_wrong_text_is_one_line() {
        let whole = schedule().to_json();
        for text in ["", "{", "[]", "nonsense", &whole[..whole.len() / 2]] {
            let problem = ScheduleFile::from_json(text).unwrap_err();
            assert!(
                matches!(problem, ScheduleProblem::NotASchedule(_)),
                "{text}: {problem}"
            );
            assert!(!problem.to_string().contains('\n'), "{problem}");
        }
    }

    #[test]
    fn the_checksum_is_fnv_1a() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
