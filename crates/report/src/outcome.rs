//! The result of a search.

use crate::{
    Coverage, Interleaving, LeftOut, Omission, Repair, Restart, ScheduleFile, Suppressed,
    Suppression, Tree, Why,
};
use explore::{Algorithm, Bound, MemoryModel};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The verdict on a program after the search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// No interleaving has a bug.
    Verified,
    /// An interleaving with a bug was found.
    Bug,
    /// No bug was found, but a bound cut off a part of the search.
    Bounded,
}

/// The result of a search. Serializes to the JSON object of `--format json`. [`Report::text`]
/// renders it for people.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// The verdict on the program.
    pub verdict: Verdict,
    /// The program, as named on the command line or by the test; empty if it has no name.
    pub program: String,
    /// Complete executions, including executions that are deadlocked, stuck or failed.
    pub executions: u64,
    /// Executions in which a thread stopped at an assumption, at a bound, or in a spin loop that a
    /// write by another thread could end.
    pub halted: u64,
    /// Redundant executions, which were cut because all enabled threads were in the sleep set.
    pub blocked: u64,
    /// Executions before the last restart of the search. A search restarts when it learns a fact
    /// about the program that contradicts its assumptions.
    #[serde(default)]
    pub given_up: u64,
    /// The number of restarts for each reason. With several jobs, this number and `given_up` depend
    /// on which job learns a fact first.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub restarts: BTreeMap<Restart, u64>,
    /// The deadlocked executions among `executions`.
    pub deadlocks: u64,
    /// The failures: only one failure without `keep_going`, otherwise each distinct failure.
    pub errors: Vec<Failure>,
    /// Findings that may be mistakes but are not bugs, for people.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Goals that some execution must reach. If the search is complete, a goal that is not reached
    /// is a bug without an execution that shows it.
    #[serde(default)]
    pub goals: Vec<Goal>,
    /// The reasons why the search is incomplete, for people: bounds and limits that were reached.
    pub bounds: Vec<String>,
    /// The same reasons for programs, in the same order.
    #[serde(default)]
    pub limits: Vec<Limit>,
    /// Findings that the user has turned off.
    #[serde(default)]
    pub suppressions: Vec<Suppression>,
    /// Distinct findings that the suppressions cover.
    #[serde(default)]
    pub suppressed: Vec<Suppressed>,
    /// Omissions that the user accepts. They do not count as limits.
    #[serde(default)]
    pub accepted: Vec<LeftOut>,
    /// Additional runs for comparing states.
    pub probes: u64,
    /// Executions after the first failure, which search for a short execution that shows it. No
    /// other number includes them.
    #[serde(default)]
    pub extra: u64,
    /// Events of all executions, including replayed events, without runs for comparing states.
    pub events: u64,
    /// The number of events of the longest execution.
    pub max_depth: usize,
    /// The exercised parts of the program.
    #[serde(default)]
    pub coverage: Coverage,
    /// Where each of the first executions branches off from the previous one, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<Tree>,
    /// The algorithm of the search.
    pub algorithm: Algorithm,
    /// The memory model of the search.
    #[serde(default)]
    pub memory: MemoryModel,
    /// The place of the ordering weaker than `SeqCst` that made the search choose its memory model,
    /// if the user chose none. If `memory` is sequential consistency, the options permitted no
    /// other model, or the program cannot be checked under RC11.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weak_ordering: Option<String>,
    /// Whether twins (threads that run the same code) were explored up to permutation, so that
    /// there may be fewer executions than traces.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub symmetry: bool,
    /// The number of jobs.
    #[serde(default = "one")]
    pub jobs: usize,
    /// Wall-clock time of the search in seconds.
    pub elapsed_s: f64,
    /// Wall-clock time of compiling the program before the search, in seconds, if it was compiled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compile_s: Option<f64>,
    /// Peak resident memory of the process in bytes; 0 if the system does not report it.
    pub peak_rss_bytes: u64,
}

/// The default for older reports, which have no number of jobs.
fn one() -> usize {
    1
}

/// A goal that some execution must reach.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Goal {
    /// Its name in the program.
    pub name: String,
    /// The place where the goal is created, as `file:line:column`.
    pub location: String,
    /// Whether an execution reached the goal.
    #[serde(rename = "reached")]
    pub is_reached: bool,
}

/// A reason why a search is incomplete.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The limit on executions was reached.
    Executions,
    /// The time limit was reached.
    Time,
    /// The search was interrupted.
    Interrupted,
    /// An observer stopped the search.
    Observer,
    /// The program has a data race that determines its behaviour: the same steps have different
    /// results.
    Race,
    /// Only one schedule was repeated.
    Replay,
    /// The algorithm samples executions and proves nothing.
    Algorithm,
    /// Executions with more preemptions were omitted.
    Preemptions,
    /// A thread stopped at the limit on operations.
    Events,
    /// A thread stopped at the limit on plain accesses.
    Accesses,
    /// A thread stopped at the limit on expired timeouts.
    Timeouts,
    /// A thread stopped at the limit on rounds of a loop.
    Unroll,
    /// A thread reached the limit on operations, and the search went on for longer than the allowed
    /// time after that. The thread may be in a spin loop without a hint.
    Patience,
    /// The program asked to omit interleavings.
    Exploration,
    /// A part of the program is not explored.
    #[serde(untagged)]
    LeftOut(Omission),
}

impl Report {
    /// Records an omission. Unless the omission is accepted, the program is not verified.
    pub fn leave_out(&mut self, left_out: LeftOut, accepted: &[Omission]) {
        if accepted.contains(&left_out.kind) {
            self.accepted.push(left_out);
            return;
        }
        self.bounds.push(left_out.to_string());
        self.limits.push(Limit::LeftOut(left_out.kind));
        if self.verdict == Verdict::Verified {
            self.verdict = Verdict::Bounded;
        }
    }
}

impl From<Bound> for Limit {
    fn from(bound: Bound) -> Limit {
        match bound {
            Bound::Preemptions => Limit::Preemptions,
            Bound::Events => Limit::Events,
            Bound::Accesses => Limit::Accesses,
            Bound::Timeouts => Limit::Timeouts,
            Bound::Unroll => Limit::Unroll,
            Bound::Exploration => Limit::Exploration,
        }
    }
}

/// A failure, with an execution that shows it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Failure {
    /// The kind of bug.
    pub kind: FailureKind,
    /// A description for people: the panic's message, the threads that wait for each other, the
    /// accesses that race.
    pub message: String,
    /// The place, as `file:line:column`, if known.
    pub location: Option<String>,
    /// The number of the execution that showed the failure, from 1.
    pub execution: u64,
    /// The schedule that repeats the failure.
    pub schedule: ScheduleFile,
    /// The file in which the schedule was saved, if any.
    pub saved_as: Option<String>,
    /// The command that repeats the failure, if the schedule was saved.
    pub repeat_with: Option<String>,
    /// The execution, for people.
    pub interleaving: Interleaving,
    /// The reason for the failure, if requested and known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Why>,
    /// The orderings that prevent the failure, if requested, known and possible under the memory
    /// model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair: Option<Repair>,
    /// The passing execution most similar to the failing execution, among those examined, if
    /// requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passing: Option<Interleaving>,
}

/// A kind of bug.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// A panic, including a failed assertion.
    Panic,
    /// Two unordered accesses. At least one access is a write, and at least one is not atomic.
    DataRace,
    /// Threads wait for each other forever.
    Deadlock,
    /// Threads spin, and no value that they read will change.
    Stuck,
    /// A thread's stack was exhausted.
    StackOverflow,
    /// The program aborted.
    Abort,
    /// A synchronization object was misused.
    Misuse,
    /// A message was never received.
    UnhandledMessage,
    /// A message was sent to a process that had ended.
    DeadLetter,
    /// An assertion in a native program failed.
    Assertion,
    /// A signal ended a native program: it accessed an invalid address, divided by zero…
    Crash,
    /// A thread runs forever without an operation that other threads could observe.
    EndlessLoop,
    /// Memory was used after it was freed, or after its function has returned or its thread has
    /// ended.
    UseAfterFree,
    /// Memory was freed twice, or memory that was never allocated was freed.
    DoubleFree,
    /// A heap access outside all allocated blocks.
    OutOfBounds,
    /// A native program ended with a status that indicates a failure.
    ExitStatus,
    /// A native program performs an operation that cannot be checked: it forks, opens a socket,
    /// reads the standard input…
    Unsupported,
    /// An object that must be dropped or freed never was.
    Leak,
}

impl FailureKind {
    /// Checks whether a thread or the program ends with such a failure, so that the search does not
    /// continue after it.
    pub fn ends_code(self) -> bool {
        match self {
            FailureKind::Panic
            | FailureKind::StackOverflow
            | FailureKind::Abort
            | FailureKind::Misuse
            | FailureKind::Assertion
            | FailureKind::Crash
            | FailureKind::EndlessLoop
            | FailureKind::UseAfterFree
            | FailureKind::DoubleFree
            | FailureKind::OutOfBounds
            | FailureKind::Unsupported => true,
            FailureKind::DataRace
            | FailureKind::Deadlock
            | FailureKind::Stuck
            | FailureKind::UnhandledMessage
            | FailureKind::DeadLetter
            | FailureKind::ExitStatus
            | FailureKind::Leak => false,
        }
    }

    /// Returns the name for people.
    pub fn name(self) -> &'static str {
        match self {
            FailureKind::Panic => "panic",
            FailureKind::DataRace => "data race",
            FailureKind::Deadlock => "deadlock",
            FailureKind::Stuck => "stuck",
            FailureKind::StackOverflow => "stack overflow",
            FailureKind::Abort => "abort",
            FailureKind::Misuse => "misuse",
            FailureKind::UnhandledMessage => "unhandled message",
            FailureKind::DeadLetter => "message to a process that has ended",
            FailureKind::Assertion => "assertion failed",
            FailureKind::Crash => "crash",
            FailureKind::EndlessLoop => "endless loop",
            FailureKind::UseAfterFree => "use after free",
            FailureKind::DoubleFree => "invalid free",
            FailureKind::OutOfBounds => "access out of bounds",
            FailureKind::ExitStatus => "failure status",
            FailureKind::Unsupported => "unsupported operation",
            FailureKind::Leak => "leak",
        }
    }
}

impl FailureKind {
    /// Returns the name for programs: `data-race`.
    pub fn id(self) -> String {
        let name = serde_json::to_value(self).expect("a kind is a word");
        name.as_str().unwrap_or_default().replace('_', "-")
    }

    /// Describes, in one sentence, the mistake of a program that has this kind of bug.
    pub fn description(self) -> &'static str {
        match self {
            FailureKind::Panic => "A thread panics.",
            FailureKind::DataRace => {
                "Two accesses to the same memory are not ordered; one of them is a write, and one is not atomic."
            }
            FailureKind::Deadlock => "Threads wait for each other forever.",
            FailureKind::Stuck => "Threads repeat a loop, and nothing will change its condition.",
            FailureKind::StackOverflow => "The stack of a thread is exhausted.",
            FailureKind::Abort => "The program aborts.",
            FailureKind::Misuse => {
                "A synchronization object is used in a way that its documentation forbids."
            }
            FailureKind::UnhandledMessage => "A message is never received.",
            FailureKind::DeadLetter => "A message is sent to a process that has ended.",
            FailureKind::Assertion => "An assertion does not hold.",
            FailureKind::Crash => {
                "A signal ends the program: it accesses an invalid address, divides by zero, or does something similar."
            }
            FailureKind::EndlessLoop => {
                "A thread runs forever without an operation that other threads could observe."
            }
            FailureKind::UseAfterFree => {
                "Memory is used after it was freed, or after its function has returned or its thread has ended."
            }
            FailureKind::DoubleFree => "Memory is freed that was already freed or never allocated.",
            FailureKind::OutOfBounds => "An access is outside of every block of the heap.",
            FailureKind::ExitStatus => "The program ends with a status that indicates a failure.",
            FailureKind::Unsupported => "The program does something that cannot be checked.",
            FailureKind::Leak => "Something is never dropped or freed.",
        }
    }
}

/// Names a bound, for people.
pub fn bound_name(bound: Bound) -> &'static str {
    match bound {
        Bound::Preemptions => "preemptions of an execution",
        Bound::Events => "operations of a thread",
        Bound::Accesses => "plain accesses of a thread",
        Bound::Timeouts => "expired timeouts of a thread",
        Bound::Unroll => "iterations of a loop",
        Bound::Exploration => "interleavings that the program asked to leave out",
    }
}
