//! The result of a search.

use crate::{
    Coverage, Interleaving, LeftOut, Omission, ScheduleFile, Suppressed, Suppression, Tree, Why,
};
use explore::{Algorithm, Bound};
use serde::{Deserialize, Serialize};

/// What is known of the program after the search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// No interleaving has a bug.
    Verified,
    /// An interleaving with a bug was found.
    Bug,
    /// No bug in what was explored, but a bound cut something off.
    Bounded,
}

/// The result of a search. Serialises to the JSON object of `--format json`; [`Report::text`] renders
/// it for people.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// What is known of the program.
    pub verdict: Verdict,
    /// The program, as the command was told or the test is called; empty if it has no name.
    pub program: String,
    /// Complete executions; deadlocked, stuck and failed ones included.
    pub executions: u64,
    /// Executions in which a thread stopped at an assumption, a bound or by the await rule and another could go on.
    pub halted: u64,
    /// Redundant executions, cut because all enabled threads were asleep.
    pub blocked: u64,
    /// Executions before the search last began anew, because it had learnt something about the program.
    #[serde(default)]
    pub given_up: u64,
    /// Deadlocked executions among `executions`.
    pub deadlocks: u64,
    /// What failed; one entry without `keep_going`, else one for each distinct failure.
    pub errors: Vec<Failure>,
    /// What was noticed that may be a mistake and is no bug, for people.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// What some execution has to come to. If one was not reached and the search is complete, that is a bug without
    /// an execution that shows it.
    #[serde(default)]
    pub goals: Vec<Goal>,
    /// Why the search is not complete, for people: bounds that were met, limits that were reached.
    pub bounds: Vec<String>,
    /// The same for programs, in the same order.
    #[serde(default)]
    pub limits: Vec<Limit>,
    /// Findings that the user has turned off.
    #[serde(default)]
    pub suppressions: Vec<Suppression>,
    /// Distinct findings that they cover.
    #[serde(default)]
    pub suppressed: Vec<Suppressed>,
    /// What was left out and the user accepts: it is no limit.
    #[serde(default)]
    pub accepted: Vec<LeftOut>,
    /// Runs beside these executions, for comparing states.
    pub probes: u64,
    /// Executions after the first failure, for a short one that shows it; they are in no other number.
    #[serde(default)]
    pub extra: u64,
    /// Events that were performed in all executions, replayed ones included, runs for comparing states not.
    pub events: u64,
    /// Events of the longest execution.
    pub max_depth: usize,
    /// What was exercised.
    #[serde(default)]
    pub coverage: Coverage,
    /// Where the first executions leave the one before, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<Tree>,
    /// How it was searched.
    pub algorithm: Algorithm,
    /// How many jobs searched.
    #[serde(default = "one")]
    pub jobs: usize,
    /// Wall clock of the search in seconds.
    pub elapsed_s: f64,
    /// Wall clock of compiling the program before, in seconds, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compile_s: Option<f64>,
    /// Peak resident memory of the process in bytes, 0 where the system does not tell.
    pub peak_rss_bytes: u64,
}

/// Reports of before there were more jobs have no number.
fn one() -> usize {
    1
}

/// What some execution has to come to.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Goal {
    /// What the program calls it.
    pub name: String,
    /// Where it is made, as `file:line:column`.
    pub location: String,
    /// Whether an execution came to it.
    #[serde(rename = "reached")]
    pub is_reached: bool,
}

/// Why a search is not complete.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// It was to stop after as many executions.
    Executions,
    /// It was to stop after some time.
    Time,
    /// It was interrupted.
    Interrupted,
    /// An observer wanted no more.
    Observer,
    /// A data race decides what the program does: the same steps do not lead to the same.
    Race,
    /// One schedule was repeated.
    Replay,
    /// The algorithm tries executions and proves nothing.
    Algorithm,
    /// Executions were cut as published, which loses some.
    PublishedCuts,
    /// Executions with more preemptions were left out.
    Preemptions,
    /// A thread stopped after as many operations.
    Events,
    /// A thread stopped after as many plain accesses.
    Accesses,
    /// A thread stopped after as many expired timeouts.
    Timeouts,
    /// A thread stopped after as many rounds of a loop.
    Unroll,
    /// Threads reached the limit of operations, perhaps in a spin loop without a hint, for longer than was allowed.
    Patience,
    /// The program asked to leave interleavings out.
    Exploration,
    /// The program has something that is not explored.
    #[serde(untagged)]
    LeftOut(Omission),
}

impl Report {
    /// Takes note of what was left out: unless it is accepted, the program is not verified.
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

/// What went wrong, in an execution that shows it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Failure {
    /// What kind of bug.
    pub kind: FailureKind,
    /// What happened, for people: the panic's message, who waits for whom, which accesses race.
    pub message: String,
    /// Where, as `file:line:column`, if known.
    pub location: Option<String>,
    /// Number of the execution that showed it, from 1.
    pub execution: u64,
    /// The schedule that repeats it.
    pub schedule: ScheduleFile,
    /// Where the schedule was saved, if it was.
    pub saved_as: Option<String>,
    /// The command that repeats it, if the schedule was saved.
    pub repeat_with: Option<String>,
    /// The execution, for people.
    pub interleaving: Interleaving,
    /// Why it fails, if that was asked for and is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Why>,
    /// Of the passing executions that were seen when that was asked for, the one that has most in common with the failing one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passing: Option<Interleaving>,
}

/// A kind of bug.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// A panic, a failed assertion among them.
    Panic,
    /// Two unordered accesses, one of them a write and one not atomic.
    DataRace,
    /// Threads wait for each other for ever.
    Deadlock,
    /// Threads spin and nothing they read will change.
    Stuck,
    /// A thread's stack was exhausted.
    StackOverflow,
    /// The program aborted.
    Abort,
    /// A synchronisation object was misused.
    Misuse,
    /// A message was never received.
    UnhandledMessage,
    /// A message was sent to a process that had ended.
    DeadLetter,
    /// An assertion of a native program does not hold.
    Assertion,
    /// A native program was ended by a signal: it accessed an invalid address, divided by zero…
    Crash,
    /// A thread runs on for ever without an operation that others could see.
    EndlessLoop,
    /// Memory was used after its end.
    UseAfterFree,
    /// Memory was given back twice, or was never given out.
    DoubleFree,
    /// An access outside of every block of the heap.
    OutOfBounds,
    /// A native program ended with a status that tells of a failure.
    ExitStatus,
    /// A native program does what cannot be checked: it forks, opens a socket, reads the standard input…
    Unsupported,
    /// Something that has to be dropped or freed never was.
    Leak,
}

impl FailureKind {
    /// For people.
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
    /// For programs: `data-race`.
    pub fn id(self) -> String {
        let name = serde_json::to_value(self).expect("a kind is a word");
        name.as_str().unwrap_or_default().replace('_', "-")
    }

    /// What is wrong with a program that does this, in a sentence.
    pub fn description(self) -> &'static str {
        match self {
            FailureKind::Panic => "A thread panics.",
            FailureKind::DataRace => {
                "Two accesses of the same memory are not ordered, and one of them is a write and one is not atomic."
            }
            FailureKind::Deadlock => "Threads wait for each other for ever.",
            FailureKind::Stuck => "Threads repeat a loop whose condition nothing will change.",
            FailureKind::StackOverflow => "The stack of a thread is exhausted.",
            FailureKind::Abort => "The program aborts.",
            FailureKind::Misuse => {
                "A synchronisation object is used in a way that its documentation forbids."
            }
            FailureKind::UnhandledMessage => "A message is never received.",
            FailureKind::DeadLetter => "A message is sent to a process that has ended.",
            FailureKind::Assertion => "An assertion does not hold.",
            FailureKind::Crash => {
                "A signal ends the program: it accesses an invalid address, divides by zero, or the like."
            }
            FailureKind::EndlessLoop => {
                "A thread runs on for ever without an operation that others could see."
            }
            FailureKind::UseAfterFree => "Memory is used after it was freed.",
            FailureKind::DoubleFree => {
                "Memory is freed that was freed before, or was never allocated."
            }
            FailureKind::OutOfBounds => "An access lies outside of every block of the heap.",
            FailureKind::ExitStatus => "The program ends with a status that tells of a failure.",
            FailureKind::Unsupported => "The program does something that cannot be checked.",
            FailureKind::Leak => "Something is never dropped or freed.",
        }
    }
}

/// Which bound cut something, for people.
pub fn bound_name(bound: Bound) -> &'static str {
    match bound {
        Bound::Preemptions => "preemptions of an execution",
        Bound::Events => "operations of a thread",
        Bound::Accesses => "plain accesses of a thread",
        Bound::Timeouts => "expired timeouts of a thread",
        Bound::Unroll => "rounds of a loop",
        Bound::Exploration => "interleavings of what the program does not explore",
    }
}
