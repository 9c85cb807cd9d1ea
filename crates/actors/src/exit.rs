//! Why processes end, and who is told.

use crate::{Monitor, ProcessId};
use std::any::Any;
use std::fmt;

/// Why a process ended.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ExitReason {
    /// Its code came to its end.
    Normal,
    /// It was killed.
    Killed,
    /// There was no such process any more when somebody wanted to know of its end.
    NoProcess,
    /// It panicked, with this message.
    Panic(String),
    /// What it said itself, or was told to end with.
    Other(String),
}

/// A linked process ended, or somebody sent an exit signal: what a process that traps exits is told.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Exit {
    /// Who ended, or sent the signal; none for code that is no process.
    pub process: Option<ProcessId>,
    /// Why.
    pub reason: ExitReason,
}

/// A monitored process ended.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Down {
    /// The monitor that tells it.
    pub monitor: Monitor,
    /// Who ended.
    pub process: ProcessId,
    /// Why.
    pub reason: ExitReason,
}

impl fmt::Display for ExitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExitReason::Normal => f.write_str("normal"),
            ExitReason::Killed => f.write_str("killed"),
            ExitReason::NoProcess => f.write_str("no process"),
            ExitReason::Panic(message) => write!(f, "panic: {message}"),
            ExitReason::Other(reason) => f.write_str(reason),
        }
    }
}

/// What a process is unwound with that ends before the end of its code.
pub(crate) struct Ending {
    pub(crate) exit: Exit,
}

/// The message of a panic.
pub(crate) fn panic_message(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a value that is no text".to_owned())
}
