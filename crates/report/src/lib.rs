//! What a search found, as data, as text for people and as JSON.

#![forbid(unsafe_code)]

mod interleaving;
mod outcome;
mod schedule_file;

pub use interleaving::{Interleaving, Racing, Row};
pub use outcome::{Failure, FailureKind, Report, Verdict, bound_name};
pub use schedule_file::{Conditions, SavedStep, ScheduleFile, ScheduleFileError, ScheduleProblem};
