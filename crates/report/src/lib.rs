//! What a search found, as data, as text for people and as JSON.

mod interleaving;
mod outcome;
mod schedule_file;

pub use interleaving::{Interleaving, Racing, Row};
pub use outcome::{Failure, FailureKind, Report, Verdict};
pub use schedule_file::{SavedStep, ScheduleFile};
