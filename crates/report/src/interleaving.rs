//! An execution as a person reads it: one column per thread.

use crate::place::short_place;
use crate::quantity::counted;
use serde::{Deserialize, Serialize};

/// An execution, for people: a row per event, a column per thread.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Interleaving {
    /// Names of the threads, one per column, in the order of their first event.
    pub threads: Vec<String>,
    /// The events in order.
    pub rows: Vec<Row>,
    /// The pairs of events whose order matters: turning one of them round gives another trace. Those that
    /// decide the failure come first; the text shows the first few.
    pub races: Vec<Racing>,
    /// The two accesses of a data race, if that is what failed: nothing orders them.
    #[serde(default)]
    pub conflict: Option<Racing>,
    /// The objects that the events are about, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<String>,
    /// What each thread does at the end ("waits for mutex m, held by T1"), one per column; empty for a
    /// thread that ran to its end.
    pub ends: Vec<String>,
}

/// One event.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Row {
    /// Index of its thread's column.
    pub thread: usize,
    /// What was done to what, with values: `x.load() -> 3`.
    pub text: String,
    /// Where in the source, as `file:line:column`, if known.
    pub location: Option<String>,
    /// Whether it is the event in which the failure showed.
    pub failed: bool,
    /// Of a message that is sent, or that a network brings: the column of the process that it is for. Of a call of
    /// an object: that of the task that it starts; of the last step of a task: that of who awaits its end.
    #[serde(default)]
    pub sent_to: Option<usize>,
    /// Of a message that was received: the row in which it was sent. Of the first step of a task: the row of the
    /// call; of an await: the row of the task's last step.
    #[serde(default)]
    pub sent_in: Option<usize>,
    /// Which object it is about, by its index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<usize>,
    /// The state of that object afterwards: `3`, `held by T1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The row that wrote the value which this one reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<usize>,
    /// The rows that have to come before it in any order: the unlock before a lock, the start of its thread.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<usize>,
    /// Whether its thread waits from here to its next event.
    #[serde(default, skip_serializing_if = "is_false")]
    pub waits: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// Two rows that race; the first came first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Racing {
    /// Index of the row that came first.
    pub first: usize,
    /// Index of the row that came second.
    pub second: usize,
}

/// Why an execution fails, as far as executions were looked at.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Why {
    /// Pairs of rows, the first before the second: every execution seen that has all of these orders fails, and without any one
    /// of the pairs that would not be so.
    pub pairs: Vec<Racing>,
    /// How many of the executions seen have them; all of these fail.
    pub failing: u64,
    /// How many of the executions seen pass.
    pub passing: u64,
}

impl Why {
    /// In one sentence, with the places, and on how many executions it rests. `execution` is the one that fails.
    pub fn sentence(&self, execution: &Interleaving) -> String {
        let told = |row: usize| {
            let row = &execution.rows[row];
            let place = row.location.as_deref().map(short_place);
            let place = place.map_or_else(String::new, |place| format!(" ({place})"));
            format!("{} of {}{place}", row.text, execution.threads[row.thread])
        };
        let pairs: Vec<String> = self
            .pairs
            .iter()
            .map(|pair| format!("{} comes before {}", told(pair.first), told(pair.second)))
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
            counted(self.passing, "other one"),
            if self.passing == 1 { "passes" } else { "pass" },
        )
    }
}

impl Interleaving {
    /// How often the thread that runs changes.
    pub fn switches(&self) -> usize {
        self.rows
            .windows(2)
            .filter(|pair| pair[0].thread != pair[1].thread)
            .count()
    }
}
