//! What the command tells the runtime library in a program's environment, and what the library answers on the
//! standard output: one JSON object in a line for each [`Answer`].

use report::{Report, ScheduleFile};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

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
    /// Stop after this time.
    pub time_limit: Option<Duration>,
    /// Cut executions with more preemptions.
    pub preemptions: Option<u32>,
    /// Of algorithms that choose at random.
    pub seed: Option<u64>,
    /// Expired timed operations per thread.
    pub timeouts: Option<u32>,
    /// Operations per thread.
    pub max_events: Option<u32>,
    /// Rounds of a loop per thread.
    pub unroll: Option<u32>,
    /// Plain accesses are events.
    pub interleaves_plain: bool,
    /// Where to save the state of the search.
    pub checkpoint: Option<PathBuf>,
    /// The state to go on from.
    pub resume: Option<PathBuf>,
    /// Run this schedule instead of a search. What the program prints then goes to the standard error.
    pub replay: Option<ScheduleFile>,
}

/// What comes of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// How far the search is: a line for people.
    Progress(String),
    /// The search is over.
    Report(Box<Report>),
    /// It could not be done, and why.
    Refused(String),
}
