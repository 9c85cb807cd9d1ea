//! What the command tells the runtime library in a program's environment, and what the library answers on the
//! standard output: one JSON object in a line for each [`Answer`].

use report::{Case, Input, Inputs, Interleaving, Report, ScheduleFile};
use rustix::fs::{MemfdFlags, memfd_create};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
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
    /// Executions that may be spent on a shorter one that fails.
    #[serde(default)]
    pub extra: Option<u64>,
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
    /// The last step of the schedule has ended a process: tell what comes before it.
    #[serde(default)]
    pub is_fatal: bool,
    /// Where to write each step before it is performed, since a process before this one died.
    #[serde(default)]
    pub trail: Option<PathBuf>,
    /// The program runs in a debugger, and its answers go to this file.
    #[serde(default)]
    pub answers: Option<PathBuf>,
    /// Verify prefixes of one execution, and answer each time that a shorter one is.
    #[serde(default)]
    pub verify: Option<Verify>,
}

/// How to verify.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub struct Verify {
    /// Begin with an execution in which few threads wait.
    pub prefers_few_waiting: bool,
    /// The values of the inputs that are known.
    pub inputs: Inputs,
    /// Stop when no more constraints remain.
    pub most_constraints: Option<usize>,
}

/// What comes of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// How far the search is: a line for people.
    Progress(String),
    /// The search is over.
    Report(Box<Report>),
    /// What comes before the last step of a schedule.
    Interleaving(Interleaving),
    /// It could not be done, and why.
    Refused(String),
    /// This is verified.
    Verified(Box<Case>),
    /// The program asks for an input that has no value: nothing was verified.
    Asked(Input),
}

/// What stands before the name of a file that has the order.
const IN_FILE: &str = "@";

impl Order {
    /// Reads what [`ORDER`] holds.
    ///
    /// ```
    /// use mazurka_native::Order;
    /// let order = Order::read("{").unwrap_err();
    /// assert!(order.to_string().contains("EOF"));
    /// ```
    ///
    /// # Errors
    /// If it is no order, or in a file that cannot be read.
    pub fn read(text: &str) -> io::Result<Order> {
        let in_file = text.strip_prefix(IN_FILE);
        let content = in_file.map(fs::read_to_string).transpose()?;
        Ok(serde_json::from_str(content.as_deref().unwrap_or(text))?)
    }
}

/// Longer orders, those with long schedules, do not fit into an environment.
const LONGEST: usize = 64 * 1024;

/// An order as it stands in the environment, and the file that has it if it is too long.
pub(crate) fn written(order: &Order) -> io::Result<(OsString, Option<File>)> {
    let text = serde_json::to_string(order).expect("an order has no maps to serialise");
    if text.len() <= LONGEST {
        return Ok((text.into(), None));
    }
    // Inherited by the worker, so without CLOEXEC.
    let mut file = File::from(memfd_create(c"mazurka.order", MemfdFlags::empty())?);
    file.write_all(text.as_bytes())?;
    let named = format!("{IN_FILE}/proc/self/fd/{}", file.as_raw_fd());
    Ok((named.into(), Some(file)))
}

/// A file without a name, and a path by which processes reach it as long as it is open here.
///
/// # Errors
/// If the system has no such file.
pub fn nameless_file() -> io::Result<(File, PathBuf)> {
    let file = File::from(memfd_create(c"mazurka.trail", MemfdFlags::CLOEXEC)?);
    let path = reachable(&file);
    Ok((file, path))
}

/// A path by which processes reach an open file, also one that has lost its name.
pub fn reachable(file: &File) -> PathBuf {
    let process = std::process::id();
    PathBuf::from(format!("/proc/{process}/fd/{}", file.as_raw_fd()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_of_any_length_are_read_as_they_were_written() {
        for length in [10, 2 * LONGEST] {
            let name = "x".repeat(length);
            let order = Order {
                name: name.clone(),
                ..Order::default()
            };
            let (text, file) = written(&order).unwrap();
            assert_eq!(file.is_some(), length > LONGEST);
            let text = text.into_string().unwrap();
            assert!(text.len() < LONGEST);
            assert_eq!(Order::read(&text).unwrap().name, name);
        }
    }
}
