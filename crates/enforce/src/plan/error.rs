//! The reasons why a file cannot be enforced.

use super::MOST_THREADS;
use report::{Inputs, Point};

/// The reason why a file cannot be enforced.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PlanError {
    /// The inputs were not verified.
    Inputs(Inputs),
    /// The file has this number of threads, which is too many.
    Threads(usize),
    /// A point belongs to a thread that the file does not name.
    Point(Point),
    /// A name of a thread is not a spawn path.
    Path(String),
}

impl std::fmt::Display for PlanError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PlanError::Inputs(inputs) if inputs.is_empty() => {
                write!(f, "the safe trace has no verified schedule")
            }
            PlanError::Inputs(inputs) => {
                let shown: Vec<_> = inputs
                    .iter()
                    .map(|(name, value)| format!("{name} = {value}"))
                    .collect();
                write!(
                    f,
                    "no schedule was verified for the inputs {}",
                    shown.join(", ")
                )
            }
            PlanError::Threads(count) => write!(
                f,
                "the safe trace orders {count} threads; at most {MOST_THREADS} can be enforced"
            ),
            PlanError::Point(point) => write!(
                f,
                "the safe trace is damaged: it has no thread {}; verify the program again",
                point.thread
            ),
            PlanError::Path(path) => write!(
                f,
                "the safe trace is damaged: {path:?} is not a thread; verify the program again"
            ),
        }
    }
}

impl std::error::Error for PlanError {}
