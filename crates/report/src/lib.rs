//! The results of a search, as data, as text for people and as JSON.
//!
//! This crate knows neither where executions come from nor where its text goes. Front-ends fill a
//! [`Report`], `Report::text` renders it, and serde converts it to JSON.

#![forbid(unsafe_code)]

#[cfg(not(unix))]
compile_error!("mazurka needs Unix: use Linux, or WSL on Windows");

mod columns;
mod comparison;
mod condition;
mod conditions;
mod control;
mod coverage;
mod excerpt;
mod grid;
mod interleaving;
mod layout;
mod omission;
mod order;
mod outcome;
mod place;
mod position;
mod progress;
pub mod quantity;
mod recording;
mod remarks;
mod repair;
mod replacement;
mod restart;
mod safe_trace;
mod schedule_file;
pub mod special_file;
mod stored_file;
mod suppression;
mod text;
mod trail;
mod tree;

pub use comparison::{Comparison, Measured, Published};
pub use condition::{Condition, Inputs};
pub use conditions::Conditions;
pub use control::{harmless, harmless_json};
pub use coverage::{Coverage, Line};
pub use interleaving::{Interleaving, Racing, Row, Unseen, Why};
pub use layout::{Style, wrap};
pub use omission::{LeftOut, Omission};
pub use order::{Answer, Errands, INPUT, ORDER, ORDER_IN_FILE, Order, Shortcut, Verify};
pub use outcome::{Failure, FailureKind, Goal, Limit, Report, Verdict, bound_name};
pub use place::{parts, place};
pub use position::{Offer, Position, Shortfall, Standing, Visit};
pub use progress::{Progress, Snapshot};
pub use recording::{Adherence, Recorded, Recording};
pub use repair::{Repair, Stronger};
pub use replacement::Replacement;
pub use restart::Restart;
pub use safe_trace::{Case, Choice, Constraint, Described, Input, Point, SafeTrace};
pub use schedule_file::{Recipe, SavedStep, ScheduleFile};
pub use stored_file::{Kind, StoredFileError, StoredProblem, write_file};
pub use suppression::{Suppressed, Suppression};
pub use trail::{Counts, Sighted, Trail, Trailed};
pub use tree::{Branch, End, Tree};
