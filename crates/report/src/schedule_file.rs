//! A schedule that can be saved and run again in another process.

use crate::FailureKind;
use serde::{Deserialize, Serialize};

/// A schedule in names that do not depend on the process, with what it shows.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ScheduleFile {
    /// Version of the format.
    pub version: u32,
    /// The program, as `check` was told: `NAME:SIZE`, or the name of a test.
    pub program: String,
    /// What the schedule shows.
    pub kind: FailureKind,
    /// What the schedule shows, for people.
    pub message: String,
    /// The steps from the start.
    pub steps: Vec<SavedStep>,
    /// Hash of everything above, so that a damaged file is noticed.
    pub checksum: u64,
}

/// A run of steps of one thread.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SavedStep {
    /// Spawn path of the thread: `0` is main, `0.2` its third child (counted from 0).
    pub thread: String,
    /// The alternatives chosen, one per step.
    pub choices: Vec<u32>,
}
