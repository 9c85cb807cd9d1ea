//! The execution that is being run, written down before each step: what is left of a process that dies in one.
//!
//! A text: `execution 3`, then `coarse …` for each coarse object, then `step 0.1 0` (thread and choice) for each step.

use crate::SavedStep;
use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::path::Path;

/// A file that always holds the execution at hand.
#[derive(Debug)]
pub struct Trail {
    file: File,
    execution: u64,
}

/// What a trail holds.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Trailed {
    /// Number of the execution, from 1.
    pub execution: u64,
    /// Objects that are known to be coarse.
    pub coarse: Vec<String>,
    /// The steps that were begun.
    pub steps: Vec<SavedStep>,
}

impl Trail {
    /// A trail in a new file.
    ///
    /// ```
    /// # use report::{Trail, Trailed};
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("trail");
    /// let mut trail = Trail::create(&path)?;
    /// trail.begin(&["polled 0.1".to_owned()])?;
    /// trail.step("0.1", 2)?;
    /// let trailed = Trailed::read(&path).expect("an execution has begun");
    /// assert_eq!((trailed.execution, trailed.steps[0].choices[0]), (1, 2));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn create(path: &Path) -> io::Result<Trail> {
        let file = File::create(path)?;
        Ok(Trail { file, execution: 0 })
    }

    /// The next execution begins.
    ///
    /// # Errors
    /// If that cannot be written.
    pub fn begin(&mut self, coarse: &[String]) -> io::Result<()> {
        self.execution += 1;
        self.file.set_len(0)?;
        self.file.rewind()?;
        let mut text = format!("execution {}\n", self.execution);
        for object in coarse {
            text.push_str(&format!("coarse {object}\n"));
        }
        self.file.write_all(text.as_bytes())
    }

    /// The next step begins: the thread with this spawn path chooses this alternative.
    ///
    /// # Errors
    /// If that cannot be written.
    pub fn step(&mut self, thread: &str, choice: u32) -> io::Result<()> {
        self.file
            .write_all(format!("step {thread} {choice}\n").as_bytes())
    }
}

impl Trailed {
    /// What the file holds; nothing if no execution has begun.
    pub fn read(path: &Path) -> Option<Trailed> {
        let mut trailed = Trailed::default();
        for line in fs::read_to_string(path).ok()?.lines() {
            match line.split_once(' ')? {
                ("execution", number) => trailed.execution = number.parse().ok()?,
                ("coarse", object) => trailed.coarse.push(object.to_owned()),
                ("step", step) => {
                    let (thread, choice) = step.split_once(' ')?;
                    trailed.steps.push(SavedStep {
                        thread: thread.to_owned(),
                        choices: vec![choice.parse().ok()?],
                    });
                }
                _ => return None,
            }
        }
        (trailed.execution > 0).then_some(trailed)
    }
}
