//! What the command tells a program that checks itself, in its environment, and what the program answers: one JSON object
//! in a line for each [`Answer`].

use crate::{
    Case, FailureKind, Input, Inputs, Interleaving, LeftOut, Omission, Position, Report,
    ScheduleFile, Suppression, Visit,
};
use explore::Preemptions;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::time::Duration;
use std::{fs, io};

/// What stands before an input's name in the environment of a program that runs.
pub const INPUT: &str = "MAZURKA_INPUT_";

/// The variable of the environment that holds an [`Order`]. Without it a program runs as usual.
pub const ORDER: &str = "MAZURKA_ORDER";

/// What to do with the program.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub struct Order {
    /// The program's name in reports.
    pub name: String,
    /// The algorithm by its name; empty for the default one.
    pub algorithm: String,
    /// Go on after a bug.
    pub keep_going: bool,
    /// Stop after as many executions.
    pub max_executions: Option<u64>,
    /// Executions that may be spent on a shorter one that fails.
    #[serde(default)]
    pub extra: Option<u64>,
    /// Whether it is to be found out why an execution fails.
    #[serde(default)]
    pub explains: bool,
    /// Whether the report is to have the tree of the search.
    #[serde(default)]
    pub draws: bool,
    /// Stop after this time.
    pub time_limit: Option<Duration>,
    /// How many preemptions an execution may have.
    pub preemptions: Option<Preemptions>,
    /// Of algorithms that choose at random.
    pub seed: Option<u64>,
    /// Expired timed operations per thread.
    pub timeouts: Option<u32>,
    /// Wakeups of condition variables per thread that no signal causes.
    #[serde(default)]
    pub spurious: Option<u32>,
    /// Allocations per thread that may get memory which was freed.
    #[serde(default)]
    pub reuse: Option<u32>,
    /// Operations per thread.
    pub max_events: Option<u32>,
    /// Rounds of a loop per thread.
    pub unroll: Option<u32>,
    /// Plain accesses are events.
    pub interleaves_plain: bool,
    /// What may be left out.
    #[serde(default)]
    pub accept: Vec<Omission>,
    /// Findings that the user has turned off.
    #[serde(default)]
    pub suppressions: Vec<Suppression>,
    /// What is known to be left out before the program runs.
    #[serde(default)]
    pub left_out: Vec<LeftOut>,
    /// Where to save the state of the search.
    pub checkpoint: Option<PathBuf>,
    /// The state to go on from.
    pub resume: Option<PathBuf>,
    /// Run this schedule instead of a search. What the program prints then goes to the standard error.
    pub replay: Option<ScheduleFile>,
    /// The last step of the schedule has ended a process: tell what comes before it.
    #[serde(default)]
    pub is_fatal: bool,
    /// Tell where the execution of the schedule stands, instead of running on.
    #[serde(default)]
    pub visit: Option<Visit>,
    /// The file of the [`Trail`](crate::Trail), which has its size already.
    #[serde(default)]
    pub trail: Option<PathBuf>,
    /// Where answers are appended; by default the standard output.
    #[serde(default)]
    pub answers: Option<PathBuf>,
    /// The program runs in a debugger.
    #[serde(default)]
    pub is_debugged: bool,
    /// Verify prefixes of one execution, and answer each time that a shorter one is.
    #[serde(default)]
    pub verify: Option<Verify>,
    /// Shortcuts that are switched off.
    #[serde(default)]
    pub without: Vec<Shortcut>,
    /// Places in files below this folder are shown from there; by default, the folder in which the process starts.
    #[serde(default)]
    pub folder: Option<PathBuf>,
    /// Do errands instead of a whole search.
    #[serde(default)]
    pub errands: Option<Errands>,
}

/// Where a process finds the errands that it is to do one after the other, and leaves what they bring.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Errands {
    /// The file of the errand, and then of what it brings: [`Answer::Brought`] says when.
    pub words: PathBuf,
    /// A pipe with one byte for each errand.
    pub bell: PathBuf,
}

impl Errands {
    /// Waits for the next errand.
    ///
    /// Both are opened each time, since a program may close any descriptor of its process.
    ///
    /// # Errors
    /// If the process that gives the errands has ended.
    pub fn next(&self) -> io::Result<Vec<u8>> {
        File::open(&self.bell)?.read_exact(&mut [0])?;
        fs::read(&self.words)
    }

    /// Leaves what the errand brings.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub fn bring(&self, words: &[u8]) -> io::Result<()> {
        fs::write(&self.words, words)
    }
}

/// A way to save work that must not change what a search finds. Tests switch them off.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shortcut {
    /// Executions start at copies of an earlier one.
    Savepoints,
    /// Memory that only one thread accesses is not watched for data races.
    Ownership,
    /// Plain accesses of a thread's own stack are no events.
    PrivateStacks,
    /// A spin loop that makes no progress ends the execution.
    AwaitRule,
    /// Thread creation and waits belong to the step before them.
    FoldedSpawns,
}

impl Shortcut {
    /// All of them.
    pub const ALL: [Shortcut; 5] = [
        Shortcut::Savepoints,
        Shortcut::Ownership,
        Shortcut::PrivateStacks,
        Shortcut::AwaitRule,
        Shortcut::FoldedSpawns,
    ];

    /// As it is typed.
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

/// How to verify.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub struct Verify {
    /// Begin with an execution in which few threads wait.
    pub prefers_few_waiting: bool,
    /// The values of the inputs that are known.
    pub inputs: Inputs,
    /// Stop when no more constraints remain.
    pub most_constraints: Option<usize>,
}

/// What comes of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// How far the search is: a line for people.
    Progress(String),
    /// The search is over.
    Report(Box<Report>),
    /// What comes before the last step of a schedule.
    Interleaving(Interleaving),
    /// Where the execution stands.
    Position(Box<Position>),
    /// It could not be done, and why.
    Refused(String),
    /// This is verified.
    Verified(Box<Case>),
    /// The program asks for an input that has no value: nothing was verified.
    Asked(Input),
    /// The errand is done.
    Brought,
}

/// What stands before the name of a file that has the order.
pub const ORDER_IN_FILE: &str = "@";

impl Order {
    /// Reads what [`ORDER`] holds.
    ///
    /// ```
    /// use report::Order;
    /// let order = Order::read("{").unwrap_err();
    /// assert!(order.to_string().contains("EOF"));
    /// ```
    ///
    /// # Errors
    /// If it is no order, or in a file that cannot be read.
    pub fn read(text: &str) -> io::Result<Order> {
        let in_file = text.strip_prefix(ORDER_IN_FILE);
        let content = in_file.map(fs::read_to_string).transpose()?;
        Ok(serde_json::from_str(content.as_deref().unwrap_or(text))?)
    }
}

impl Answer {
    /// What a search has found. What cannot be checked is no bug.
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

    /// As it stands in a line.
    ///
    /// # Panics
    /// Never: an answer has only maps from strings.
    pub fn line(&self) -> String {
        serde_json::to_string(self).expect("an answer has only maps from strings")
    }
}
