//! The reasons why processes end, and the notices to other processes.

use crate::{Monitor, ProcessId};
use std::any::Any;
use std::fmt;

/// The reason why a process ended.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ExitReason {
    /// The code of the process returned.
    Normal,
    /// The process was killed.
    Killed,
    /// The process had ended already when another process linked to it or monitored it.
    NoProcess,
    /// The process panicked with this message.
    Panic(String),
    /// The process or an exit signal gave this reason.
    Other(String),
}

/// A notice to a process that traps exits: a linked process has ended, or an exit signal has
/// arrived.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Exit {
    /// The process that ended or sent the signal; `None` if the sender is not a process.
    pub process: Option<ProcessId>,
    /// The reason for the end or for the signal.
    pub reason: ExitReason,
}

/// The notice that a monitored process has ended.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Down {
    /// The monitor that reports the end.
    pub monitor: Monitor,
    /// The process that ended.
    pub process: ProcessId,
    /// The reason for the end.
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

/// The panic payload that unwinds a process that ends before its code returns.
pub(crate) struct Ending {
    pub(crate) exit: Exit,
}

/// Returns the message of a panic.
pub(crate) fn panic_message(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a value that is not text".to_owned())
}
