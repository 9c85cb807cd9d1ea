//! Why a check could not be done: wrong input, never a bug of the checked program.

use explore::Divergence;
use std::path::PathBuf;

/// Why a check could not be done.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The program did something else than before after the same steps.
    #[error(
        "{0}; take out clocks, random numbers, hash maps with random seeds and state that outlives an execution"
    )]
    Nondeterministic(Divergence),
    /// The schedule was recorded from another program.
    #[error("the schedule does not fit the program: {0}; was it changed since?")]
    Misfit(String),
    /// A file could not be read.
    #[error("cannot read {}: {reason}", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// What the system said, or what is wrong with the content.
        reason: String,
    },
    /// A file could not be written.
    #[error("cannot write {}: {reason}", path.display())]
    Unwritable {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The checkpoint belongs to another search.
    #[error("the checkpoint {} is of another search: its {what} is {found}, asked for is {asked}", path.display())]
    ForeignCheckpoint {
        /// Which file.
        path: PathBuf,
        /// In what it differs.
        what: &'static str,
        /// What the file says.
        found: String,
        /// What the checker was told.
        asked: String,
    },
    /// Options that exclude each other.
    #[error("{0}")]
    Contradiction(&'static str),
}
