//! An execution in readable form: one column per thread.

use crate::place::short_place;
use crate::quantity::counted;
use serde::{Deserialize, Serialize};

/// An execution in readable form: a row per event, a column per thread.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Interleaving {
    /// The names of the threads, one per column, in the order of their first events.
    pub threads: Vec<String>,
    /// The events in order.
    pub rows: Vec<Row>,
    /// The pairs of events whose order matters: reversing a pair gives another trace. Pairs that
    /// decide the failure come first. The text shows only the first few pairs.
    pub races: Vec<Racing>,
    /// The two unordered accesses of a data race, if that is the failure.
    #[serde(default)]
    pub conflict: Option<Racing>,
    /// Writes that a read did not see although they came before it, under a weak memory model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<Unseen>,
    /// The objects of the events, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<String>,
    /// The state of each thread at the end ("waits for mutex m, held by T1"), one per column. Empty
    /// for a thread that ran to completion.
    pub ends: Vec<String>,
}

/// One event.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The index of its thread's column.
    pub thread: usize,
    /// The operation, its object and its values: `x.load() -> 3`.
    pub text: String,
    /// The place in the source, as `file:line:column`, if known.
    pub location: Option<String>,
    /// Whether the failure occurred in this event.
    pub failed: bool,
    /// For a message that is sent or that a network delivers: the column of the receiving process.
    /// For a call to an object: the column of the task that the call starts. For the last step of a
    /// task: the column of the thread that awaits its end.
    #[serde(default)]
    pub sent_to: Option<usize>,
    /// For a received message: the row in which it was sent. For the first step of a task: the row
    /// of the call. For an await: the row of the task's last step.
    #[serde(default)]
    pub sent_in: Option<usize>,
    /// The index of its object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<usize>,
    /// The state of that object afterwards: `3`, `held by T1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The row that wrote the value that this row reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<usize>,
    /// The rows that synchronize with this row, such as the unlock before a lock or the start of
    /// its thread. They precede this row in every schedule of the trace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<usize>,
    /// Whether its thread waits from here to its next event.
    #[serde(default, skip_serializing_if = "is_false")]
    pub waits: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// Two rows that race.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Racing {
    /// The index of the earlier row.
    pub first: usize,
    /// The index of the later row.
    pub second: usize,
}

/// A write that a read did not see.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Unseen {
    /// The row of the write.
    pub write: usize,
    /// The row of the read.
    pub read: usize,
    /// A later write by the writing thread, and a read from it by the reading thread. With stronger
    /// orderings, this pair would have made the unseen write visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub through: Option<Racing>,
}

/// The reason why an execution fails, as far as the examined executions show.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Why {
    /// Pairs of rows, each earlier row first. Every examined execution that has all of these orders
    /// fails. No pair can be removed without losing this property.
    pub pairs: Vec<Racing>,
    /// The number of examined executions with these orders. All of them fail.
    pub failing: u64,
    /// The number of examined executions that pass.
    pub passing: u64,
}

impl Why {
    /// Describes the reason in one sentence, with places and the numbers of executions. `execution`
    /// is the failing execution.
    pub fn sentence(&self, execution: &Interleaving) -> String {
        let describe = |row: usize| {
            let row = &execution.rows[row];
            let place = row.location.as_deref().map(short_place);
            let place = place.map_or_else(String::new, |place| format!(" ({place})"));
            format!("{} of {}{place}", row.text, execution.threads[row.thread])
        };
        let pairs: Vec<String> = self
            .pairs
            .iter()
            .map(|pair| {
                format!(
                    "{} comes before {}",
                    describe(pair.first),
                    describe(pair.second)
                )
            })
            .collect();
        format!(
            "In the executions seen, it fails whenever {}: {} like this {}, {} {}.",
            pairs.join(", and "),
            counted(self.failing, "execution"),
            if self.failing == 1 {
                "was seen and fails"
            } else {
                "were seen and fail"
            },
            counted(self.passing, "other execution"),
            if self.passing == 1 { "passes" } else { "pass" },
        )
    }
}

impl Interleaving {
    /// Counts the changes of the running thread.
    pub fn switches(&self) -> usize {
        self.rows
            .windows(2)
            .filter(|pair| pair[0].thread != pair[1].thread)
            .count()
    }
}
