//! The progress of a search, in memory that the searching process shares with the process that
//! started it. This memory remains available if the searching process dies or must be killed.
//!
//! Layout, in words of 64 bits: counters, then the steps of the current execution (thread and
//! choice), then a JSON text preceded by its length in bytes. The text contains names of threads,
//! coarse objects (see [`ScheduleFile::coarse`](crate::ScheduleFile::coarse)), the memory model and
//! failures. The reader of the trail writes only the last word, to ask the search to end soon.

use crate::{FailureKind, SavedStep};
use explore::MemoryModel;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The number of words of a trail. Pages that are not written take no memory.
const WORDS: usize = 1 << 21;
/// The index of the first step.
const STEPS: usize = 16;
/// The index of the text: its length, then its bytes.
const TEXT: usize = 1 << 20;
/// The word in which the process that reads the trail asks the search to end soon.
const EARLY_END: usize = WORDS - 1;

/// The indices of the counters.
const EXECUTION: usize = 0;
const LENGTH: usize = 1;
const COUNTS: usize = 2;

/// The number of executions of each kind, and of events.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Counts {
    /// Complete executions.
    pub executions: u64,
    /// Executions in which a thread stopped early.
    pub halted: u64,
    /// Redundant executions.
    pub blocked: u64,
    /// Deadlocked executions.
    pub deadlocks: u64,
    /// The events of all executions.
    pub events: u64,
    /// The number of events of the longest execution.
    pub max_depth: u64,
}

/// A failure that the search has found but not yet reported.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Sighted {
    /// The kind of bug.
    pub kind: FailureKind,
    /// The failure's message.
    pub message: String,
    /// The place, as `file:line:column`, if known.
    pub location: Option<String>,
    /// The number of the execution that showed the failure, from 1.
    pub execution: u64,
    /// The accesses of that execution.
    pub steps: Vec<SavedStep>,
}

/// Data that changes rarely.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
struct Facts {
    /// Spawn paths, indexed by the thread ids of the search.
    threads: Vec<String>,
    coarse: Vec<String>,
    memory: MemoryModel,
    sighted: Vec<Sighted>,
}

/// The writing end of a trail.
#[derive(Debug)]
pub struct Trail {
    words: &'static [AtomicU64],
    /// The number of steps of the current execution.
    length: usize,
    facts: Facts,
}

/// The content of a trail.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Trailed {
    /// The number of the current execution, from 1.
    pub execution: u64,
    /// The counts of the executions that have ended.
    pub counts: Counts,
    /// Objects whose operations are treated as more dependent than at the start of the search.
    pub coarse: Vec<String>,
    /// The memory model of the current execution.
    pub memory: MemoryModel,
    /// The steps of the current execution that have begun.
    pub steps: Vec<SavedStep>,
    /// The failures found so far.
    pub sighted: Vec<Sighted>,
}

impl Trail {
    /// The size of the shared file in bytes.
    pub const BYTES: u64 = (WORDS * size_of::<u64>()) as u64;

    /// The offset in the file, in bytes, of the word by which the reader [asks the search to end
    /// soon](Self::asks_for_early_end).
    pub const EARLY_END: u64 = (EARLY_END * size_of::<u64>()) as u64;

    /// Begins a trail in these words of the shared file.
    ///
    /// ```
    /// # use report::{Trail, Trailed};
    /// # use std::io::Write;
    /// # use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    /// let words: Vec<AtomicU64> = (0..Trail::BYTES / 8).map(|_| AtomicU64::new(0)).collect();
    /// let words: &'static [AtomicU64] = words.leak();
    /// let mut trail = Trail::new(words);
    /// trail.set_coarse(vec!["polled 0.1".to_owned()]);
    /// trail.begin();
    /// trail.step(1, 2, |thread| format!("0.{thread}"));
    /// // The file is the memory.
    /// let mut file = tempfile::tempfile()?;
    /// for word in words {
    ///     file.write_all(&word.load(Relaxed).to_le_bytes())?;
    /// }
    /// let trailed = Trailed::read(&file)?.expect("an execution has begun");
    /// assert_eq!(trailed.execution, 1);
    /// assert_eq!((&*trailed.steps[0].thread, &*trailed.steps[0].choices), ("0.1", &[2][..]));
    /// assert_eq!(trailed.coarse, ["polled 0.1"]);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Panics
    /// Panics if there are fewer than [`BYTES`](Self::BYTES) bytes.
    pub fn new(words: &'static [AtomicU64]) -> Trail {
        assert!(words.len() >= WORDS, "a trail has {WORDS} words");
        for word in words[..STEPS].iter().chain(&words[TEXT..=TEXT]) {
            word.store(0, Relaxed);
        }
        Trail {
            words,
            length: 0,
            facts: Facts::default(),
        }
    }

    /// Checks whether the reader asks the search to end soon, by a word that is not zero.
    #[inline]
    pub fn asks_for_early_end(words: &[AtomicU64]) -> bool {
        words[EARLY_END].load(Relaxed) != 0
    }

    /// Records that the next execution begins.
    pub fn begin(&mut self) {
        let executions = self.words[EXECUTION].load(Relaxed);
        self.words[EXECUTION].store(executions + 1, Relaxed);
        self.set_length(0);
    }

    /// Records that the next step begins. `name` returns the spawn path of a thread id.
    #[inline]
    pub fn step(&mut self, thread: usize, choice: u32, name: impl Fn(usize) -> String) {
        if thread >= self.facts.threads.len() {
            self.know(thread, name);
        }
        // Further steps are not recorded. For such an execution, no steps are read.
        if STEPS + self.length < TEXT {
            self.words[STEPS + self.length].store(packed(thread, choice), Relaxed);
        }
        self.set_length(self.length + 1);
    }

    /// Records the first steps of the next execution, which are repeated.
    pub fn repeat(
        &mut self,
        steps: impl Iterator<Item = (usize, u32)>,
        name: impl Fn(usize) -> String + Copy,
    ) {
        self.begin();
        let mut length = 0;
        // Further steps are not recorded.
        for (word, (thread, choice)) in self.words[STEPS..TEXT].iter().zip(steps) {
            if thread >= self.facts.threads.len() {
                self.know(thread, name);
            }
            word.store(packed(thread, choice), Relaxed);
            length += 1;
        }
        self.set_length(length);
    }

    #[inline]
    fn set_length(&mut self, length: usize) {
        self.length = length;
        self.words[LENGTH].store(length as u64, Relaxed);
    }

    #[cold]
    fn know(&mut self, thread: usize, name: impl Fn(usize) -> String) {
        let known = self.facts.threads.len();
        self.facts.threads.extend((known..=thread).map(name));
        self.write_facts();
    }

    /// Records the coarse objects.
    pub fn set_coarse(&mut self, coarse: Vec<String>) {
        if self.facts.coarse != coarse {
            self.facts.coarse = coarse;
            self.write_facts();
        }
    }

    /// Records the memory model of the next executions.
    pub fn set_memory(&mut self, memory: MemoryModel) {
        if self.facts.memory != memory {
            self.facts.memory = memory;
            self.write_facts();
        }
    }

    /// Records the failures found so far.
    pub fn set_sighted(&mut self, sighted: Vec<Sighted>) {
        self.facts.sighted = sighted;
        self.write_facts();
    }

    /// Records the counts after an execution has ended.
    pub fn count(&mut self, counts: &Counts) {
        let values = counts.values();
        for (word, value) in self.words[COUNTS..].iter().zip(values) {
            word.store(value, Relaxed);
        }
    }

    fn write_facts(&self) {
        let text =
            serde_json::to_vec(&self.facts).expect("the keys of all maps in facts are strings");
        let place = &self.words[TEXT + 1..EARLY_END];
        // A text that does not fit is omitted.
        let length = match text.len() <= size_of_val(place) {
            true => text.len(),
            false => 0,
        };
        self.words[TEXT].store(0, Relaxed);
        for (word, bytes) in place.iter().zip(text[..length].chunks(size_of::<u64>())) {
            let mut whole = [0; size_of::<u64>()];
            whole[..bytes.len()].copy_from_slice(bytes);
            word.store(u64::from_le_bytes(whole), Relaxed);
        }
        self.words[TEXT].store(length as u64, Relaxed);
    }
}

/// Encodes a step in one word.
fn packed(thread: usize, choice: u32) -> u64 {
    (thread as u64) << u32::BITS | u64::from(choice)
}

impl Counts {
    /// Checks whether an execution has ended.
    pub fn has_some(&self) -> bool {
        self.executions + self.halted + self.blocked + self.deadlocks > 0
    }

    fn values(&self) -> [u64; 6] {
        [
            self.executions,
            self.halted,
            self.blocked,
            self.deadlocks,
            self.events,
            self.max_depth,
        ]
    }
}

impl Trailed {
    /// Reads the content of the file. Returns `None` if no execution has begun. If the program has
    /// overwritten the content, the steps are left out.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn read(file: &File) -> io::Result<Option<Trailed>> {
        let mut file = file;
        let head = words(&mut file, 0, STEPS)?;
        if head[EXECUTION] == 0 {
            return Ok(None);
        }
        let facts = facts(&mut file)?.unwrap_or_default();
        let [executions, halted, blocked, deadlocks, events, max_depth] = head[COUNTS..]
            .first_chunk()
            .copied()
            .expect("the head is longer");
        let length = usize::try_from(head[LENGTH]).unwrap_or(usize::MAX);
        let steps = match length <= TEXT - STEPS {
            true => words(&mut file, STEPS, length)?,
            false => Vec::new(),
        };
        Ok(Some(Trailed {
            execution: head[EXECUTION],
            counts: Counts {
                executions,
                halted,
                blocked,
                deadlocks,
                events,
                max_depth,
            },
            coarse: facts.coarse,
            memory: facts.memory,
            steps: saved(&steps, &facts.threads).unwrap_or_default(),
            sighted: facts.sighted,
        }))
    }
}

/// Groups steps into runs of one thread. Returns `None` if a thread is unknown.
fn saved(steps: &[u64], threads: &[String]) -> Option<Vec<SavedStep>> {
    let thread = |step: &u64| (step >> u32::BITS) as usize;
    let runs = steps.chunk_by(|one, other| thread(one) == thread(other));
    runs.map(|run| {
        Some(SavedStep {
            thread: threads.get(thread(&run[0]))?.clone(),
            choices: run.iter().map(|step| *step as u32).collect(),
            reads: Vec::new(),
        })
    })
    .collect()
}

fn facts(file: &mut &File) -> io::Result<Option<Facts>> {
    let length = words(file, TEXT, 1)?[0];
    let most = ((EARLY_END - TEXT - 1) * size_of::<u64>()) as u64;
    if length > most {
        return Ok(None);
    }
    let mut text = Vec::new();
    file.take(length).read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text).ok())
}

/// Reads `count` words, starting at word `from`.
fn words(file: &mut &File, from: usize, count: usize) -> io::Result<Vec<u64>> {
    let mut bytes = vec![0; count * size_of::<u64>()];
    file.seek(SeekFrom::Start((from * size_of::<u64>()) as u64))?;
    file.read_exact(&mut bytes)?;
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("a word has 8 bytes"));
    Ok(bytes.chunks_exact(size_of::<u64>()).map(word).collect())
}
