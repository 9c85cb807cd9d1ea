//! The messages between the command and a process that checks a program.
//!
//! The command passes an [`Order`] in the environment. The process writes [`Answer`]s, each as one
//! line with a JSON object. An order may ask the process to wait for *errands*: pieces of a search,
//! which the command assigns one by one.

use crate::{
    Case, Conditions, FailureKind, Input, Inputs, Interleaving, LeftOut, Omission, Position,
    Report, ScheduleFile, Suppression, Visit,
};
use explore::Preemptions;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::time::Duration;
use std::{fs, io};

/// The prefix of an input's name in the environment of a running program.
pub const INPUT: &str = "MAZURKA_INPUT_";

/// The environment variable that holds an [`Order`]. Without this variable a program runs as usual.
pub const ORDER: &str = "MAZURKA_ORDER";

/// An order to check a program.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub struct Order {
    /// The program's name in reports.
    pub name: String,
    /// The name of the algorithm; empty for the default.
    pub algorithm: String,
    /// Whether to continue after a bug.
    pub keep_going: bool,
    /// The number of executions after which the search stops.
    pub max_executions: Option<u64>,
    /// The number of executions that may be spent on finding a shorter execution that fails.
    #[serde(default)]
    pub extra: Option<u64>,
    /// Whether to determine why an execution fails.
    #[serde(default)]
    pub explains: bool,
    /// Whether to include the tree of the search in the report.
    #[serde(default)]
    pub draws: bool,
    /// The time after which the search stops.
    pub time_limit: Option<Duration>,
    /// The number of preemptions that an execution may have.
    pub preemptions: Option<Preemptions>,
    /// Whether twins (threads that run the same code) are explored up to permutation.
    #[serde(default)]
    pub symmetry: bool,
    /// The seed for algorithms that choose at random.
    pub seed: Option<u64>,
    /// The conditions of the run. [`Verify`] overrides `is_enforceable`.
    #[serde(flatten)]
    pub conditions: Conditions,
    /// The accepted omissions.
    #[serde(default)]
    pub accept: Vec<Omission>,
    /// Findings that the user has turned off.
    #[serde(default)]
    pub suppressions: Vec<Suppression>,
    /// The omissions that are known before the program runs.
    #[serde(default)]
    pub left_out: Vec<LeftOut>,
    /// The file in which to save the state of the search.
    pub checkpoint: Option<PathBuf>,
    /// The file with the state to continue from.
    pub resume: Option<PathBuf>,
    /// The schedule to run instead of a search. Output of the program then goes to the standard
    /// error.
    pub replay: Option<ScheduleFile>,
    /// Whether the last step of the schedule ends the process. Then the execution before that step
    /// is reported.
    #[serde(default)]
    pub is_fatal: bool,
    /// The position to report after the schedule, instead of continuing.
    #[serde(default)]
    pub visit: Option<Visit>,
    /// The file of the [`Trail`](crate::Trail), which already has its size.
    #[serde(default)]
    pub trail: Option<PathBuf>,
    /// The file to which answers are appended; by default the standard output.
    #[serde(default)]
    pub answers: Option<PathBuf>,
    /// Whether the program runs in a debugger.
    #[serde(default)]
    pub is_debugged: bool,
    /// The settings of a verification, which verifies shorter and shorter prefixes of one
    /// execution. The process answers each time that a shorter prefix is verified.
    #[serde(default)]
    pub verify: Option<Verify>,
    /// Shortcuts that are disabled.
    #[serde(default)]
    pub without: Vec<Shortcut>,
    /// Places in files below this folder are shown relative to the folder. The default is the
    /// folder in which the process starts.
    #[serde(default)]
    pub folder: Option<PathBuf>,
    /// The errands to carry out instead of a whole search.
    #[serde(default)]
    pub errands: Option<Errands>,
}

/// The channel through which a process receives errands, one after the other, and returns results.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Errands {
    /// The file that contains the errand, and later its result. [`Answer::Brought`] announces the
    /// result.
    pub words: PathBuf,
    /// A pipe with one byte for each errand.
    pub bell: PathBuf,
}

impl Errands {
    /// Waits for the next errand.
    ///
    /// Opens both files each time, because a program may close any descriptor of its process.
    ///
    /// # Errors
    /// Returns an error if the process that gives the errands has ended.
    pub fn next(&self) -> io::Result<Vec<u8>> {
        File::open(&self.bell)?.read_exact(&mut [0])?;
        fs::read(&self.words)
    }

    /// Stores the result of the errand.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`next`](Self::next).
    pub fn store_result(&self, words: &[u8]) -> io::Result<()> {
        fs::write(&self.words, words)
    }
}

/// An optimization that must not change the result of a search. Tests can disable it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shortcut {
    /// Executions start at copies of an earlier execution.
    Savepoints,
    /// Memory that only one thread accesses is not checked for data races.
    Ownership,
    /// Plain accesses of a thread to its own stack are not events.
    PrivateStacks,
    /// A thread stops if it is in a spin loop that makes no progress.
    AwaitRule,
    /// Thread creation and waits are part of the step before them.
    FoldedSpawns,
}

impl Shortcut {
    /// All shortcuts.
    pub const ALL: [Shortcut; 5] = [
        Shortcut::Savepoints,
        Shortcut::Ownership,
        Shortcut::PrivateStacks,
        Shortcut::AwaitRule,
        Shortcut::FoldedSpawns,
    ];

    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Shortcut::Savepoints => "savepoints",
            Shortcut::Ownership => "ownership",
            Shortcut::PrivateStacks => "private-stacks",
            Shortcut::AwaitRule => "await-rule",
            Shortcut::FoldedSpawns => "folded-spawns",
        }
    }
}

/// Settings of a verification.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub struct Verify {
    /// Whether to begin with an execution in which few threads wait.
    pub prefers_few_waiting: bool,
    /// The known values of the inputs.
    pub inputs: Inputs,
    /// The number of remaining constraints at which the verification may stop.
    pub most_constraints: Option<usize>,
}

/// An answer to an order.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The progress of the search: a line for people.
    Progress(String),
    /// The search is over.
    Report(Box<Report>),
    /// The execution before the last step of a schedule.
    Interleaving(Interleaving),
    /// The position of the execution.
    Position(Box<Position>),
    /// The order could not be carried out. This is the reason.
    Refused(String),
    /// This case is verified.
    Verified(Box<Case>),
    /// The program reads an input that has no value: nothing was verified.
    Asked(Input),
    /// The errand is done.
    Brought,
}

/// If the value of [`ORDER`] begins with this prefix, the rest is the name of a file that contains
/// the order.
pub const ORDER_IN_FILE: &str = "@";

impl Order {
    /// Parses the value of [`ORDER`].
    ///
    /// ```
    /// use report::Order;
    /// let order = Order::read("{").unwrap_err();
    /// assert!(order.to_string().contains("EOF"));
    /// ```
    ///
    /// # Errors
    /// Returns an error if the text is not an order, or if it names a file that cannot be read.
    pub fn read(text: &str) -> io::Result<Order> {
        let in_file = text.strip_prefix(ORDER_IN_FILE);
        let content = in_file.map(fs::read_to_string).transpose()?;
        Ok(serde_json::from_str(content.as_deref().unwrap_or(text))?)
    }
}

impl Answer {
    /// Creates the answer for a report. An operation that cannot be checked is not a bug, so a
    /// report with such an operation becomes a refusal.
    pub fn of(report: Report) -> Answer {
        let mut errors = report.errors.iter();
        match errors.find(|failure| failure.kind == FailureKind::Unsupported) {
            Some(failure) => {
                let place = failure.location.as_ref();
                let place = place.map_or_else(String::new, |place| format!(" at {place}"));
                Answer::Refused(format!(
                    "{}{place}: this cannot be checked",
                    failure.message
                ))
            }
            None => Answer::Report(Box::new(report)),
        }
    }

    /// Returns the answer as one line of JSON.
    ///
    /// # Panics
    /// Never panics, because the keys of all maps in an answer are strings.
    pub fn line(&self) -> String {
        serde_json::to_string(self).expect("the keys of all maps in an answer are strings")
    }
}
