//! Errors that prevent a check: wrong input, never a bug of the checked program.

use explore::{Algorithm, Divergence, Found};
use report::FailureKind;
use runtime::Opaque;
use std::path::PathBuf;

/// The reason why a check could not be done.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The program behaved differently after the same steps.
    #[error(
        "the program is not deterministic: {}; remove clocks, random numbers, maps with random seeds, and anything that outlives an execution",
        describe_divergence(.0)
    )]
    Nondeterministic(Divergence),
    /// The first execution had a different outcome when it was repeated at the end of the search.
    #[error(
        "the program is not deterministic: its first execution ended differently when it was repeated after the others; remove anything that outlives an execution, such as statics of std"
    )]
    Outlived,
    /// The same steps failed at first, and later failed in another way or not at all.
    #[error(
        "the program is not deterministic: the steps that led to a failure ({}) led to {} when they were repeated; remove clocks, random numbers, maps with random seeds, and anything that outlives an execution",
        before.name(), now.map_or("none".to_owned(), |now| format!("another one ({})", now.name()))
    )]
    Inconstant {
        /// The failure in the search.
        before: FailureKind,
        /// The failure when the same steps were repeated for the report; `None` if they did not
        /// fail.
        now: Option<FailureKind>,
    },
    /// A saved schedule does not fit the program, or a request from another process cannot be
    /// carried out.
    #[error("the schedule does not fit the program: {0}; has the program changed since then?")]
    Misfit(String),
    /// A file could not be read.
    #[error("cannot read {}: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The message of the system, or the problem with the content.
        reason: String,
    },
    /// A file could not be written.
    #[error("cannot write {}: {reason}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The message of the system.
        reason: String,
    },
    /// The checkpoint belongs to another search.
    #[error("the checkpoint {} belongs to another search: its {what} is {}, but {asked} was requested", path.display(), found.escape_debug())]
    ForeignCheckpoint {
        /// The file.
        path: PathBuf,
        /// The property that differs.
        what: &'static str,
        /// The value in the file.
        found: String,
        /// The value that the checker was given.
        asked: String,
    },
    /// The algorithm compares states of the program, but the program does not report them.
    #[error("the algorithm {algorithm} compares states, but the program does not report its state{}", why(.opaque))]
    Incomparable {
        /// The algorithm.
        algorithm: Algorithm,
        /// The reason why the program has no state to compare, if known.
        opaque: Option<Opaque>,
    },
    /// An error in another process that runs a part of the search.
    #[error("{message}")]
    Elsewhere {
        /// The message of that process.
        message: String,
        /// Whether the program behaved differently after the same steps.
        is_nondeterminism: bool,
    },
    /// Options that contradict each other.
    #[error("{0}")]
    Contradiction(&'static str),
}

impl CheckError {
    /// Checks whether the program behaved differently after the same steps.
    pub(super) fn is_nondeterminism(&self) -> bool {
        match self {
            CheckError::Nondeterministic(_) => true,
            CheckError::Elsewhere {
                is_nondeterminism, ..
            } => *is_nondeterminism,
            _ => false,
        }
    }

    /// Creates the error for a schedule with a step that the program cannot take.
    pub(super) fn misfit(divergence: &Divergence) -> CheckError {
        let Divergence { at, thread, .. } = divergence;
        CheckError::Misfit(format!("{thread} cannot run at step {at}"))
    }
}

fn why(opaque: &Option<Opaque>) -> String {
    opaque
        .as_ref()
        .map_or(String::new(), |opaque| format!(": {opaque}"))
}

/// Describes what a thread did before, and what it does now after the same steps.
pub(super) fn describe_divergence(divergence: &Divergence) -> String {
    let Divergence {
        at,
        thread,
        expected,
        found,
    } = divergence;
    let before = match expected {
        Some(op) => format!("performed {:?}", op.kind),
        None => "continued".to_owned(),
    };
    let now = match (found, expected) {
        (Found::Op(op), Some(before)) if op.kind != before.kind => {
            format!("now performs {:?}", op.kind)
        }
        (Found::Op(op), Some(before)) if op.object != before.object => {
            "now does so on another object".to_owned()
        }
        (Found::Op(_), _) => "now does so in another way".to_owned(),
        (Found::Value, _) => "now does so with another value".to_owned(),
        (Found::NotEnabled, _) => "now cannot".to_owned(),
    };
    format!("at step {at}, {thread} {before} in the first run, and {now}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use explore::{Access, ObjectId, Op, OpKind, ThreadId};

    #[test]
    fn a_divergence_is_reported_with_its_step() {
        let op = |kind| Op {
            kind,
            access: Access::Write,
            object: ObjectId(1),
        };
        let divergence = Divergence {
            at: 7,
            thread: ThreadId(2),
            expected: Some(op(OpKind::Store)),
            found: Found::Op(op(OpKind::Load)),
        };
        assert_eq!(
            describe_divergence(&divergence),
            "at step 7, T2 performed Store in the first run, and now performs Load"
        );
    }
}
