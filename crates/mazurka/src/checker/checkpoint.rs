//! The state of a search between two executions, and the conditions for resuming from a saved one.

use super::CheckError;
use super::checkpoint_file;
use super::coverage::Seen;
use super::failures::Failures;
use super::numbering::Numbering;
use super::part::Part;
use super::settings::Settings;
use super::tally::Tally;
use explore::{Algorithm, Options};
use report::{Conditions, Goal, LeftOut, Suppressed, Suppression};
use runtime::{Names, contained};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The minimum time between two saves.
const INTERVAL: Duration = Duration::from_millis(10);

/// The message for a checkpoint that no search could have written.
const CONTRADICTORY: &str =
    "the checkpoint is inconsistent or does not match the program; start a new search";

/// The task of a search. Only a search with the same task can resume from its state.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Task {
    program: String,
    algorithm: Algorithm,
    options: Options,
    conditions: Conditions,
    keeps_going: bool,
    leaks_fail: bool,
    explores: bool,
    symmetry: bool,
    suppressions: Vec<Suppression>,
}

/// The state of a search without the state of its strategy, which follows in the file.
#[derive(Serialize, Deserialize)]
pub(crate) struct State<'s> {
    pub task: Task,
    pub tally: Cow<'s, Tally>,
    pub failures: Cow<'s, Failures>,
    /// Warnings that are not failures.
    pub warnings: Vec<String>,
    /// Parts of the behaviour that the check leaves out.
    pub left_out: Vec<LeftOut>,
    /// Suppressed findings.
    pub suppressed: Vec<Suppressed>,
    /// The goals, and whether an execution has reached them.
    pub goals: Cow<'s, [Goal]>,
    /// The threads and objects by id, and which objects are coarse (see `search.rs`).
    pub names: Cow<'s, Names>,
    /// Duration of the search so far.
    pub elapsed_s: f64,
    /// The remaining parts of a divided search, with their strategies. `None` if it is not divided.
    pub parts: Option<Vec<Part>>,
    /// The numbering of the executions of these parts.
    pub numbering: Option<Numbering>,
    /// The coverage of these parts.
    pub seen: Seen,
}

impl Task {
    pub fn of(settings: &Settings) -> Task {
        Task {
            program: settings.name.clone(),
            algorithm: settings.algorithm,
            options: settings.options,
            conditions: settings.config.conditions,
            keeps_going: settings.keeps_going,
            leaks_fail: settings.config.leaks_fail,
            explores: settings.config.explores,
            symmetry: settings.config.symmetry,
            suppressions: settings.suppressions.clone(),
        }
    }

    /// Returns the properties of the task, as text.
    fn properties(&self) -> impl Iterator<Item = (&'static str, String)> {
        let Task {
            program,
            algorithm,
            options,
            conditions,
            keeps_going,
            leaks_fail,
            explores,
            symmetry,
            suppressions,
        } = self;
        let suppressions: Vec<String> = suppressions.iter().map(ToString::to_string).collect();
        let name = match program.as_str() {
            "" => "unnamed".to_owned(),
            name => name.to_owned(),
        };
        let preemptions = options.preemptions;
        let either = |is_so, one: &str, other: &str| if is_so { one } else { other }.to_owned();
        let search = [
            ("program", name),
            ("algorithm", algorithm.to_string()),
            ("seed", options.seed.to_string()),
            (
                "preemption bound",
                preemptions.map_or("none".to_owned(), |bound| bound.to_string()),
            ),
        ];
        let verdicts = [
            (
                "behaviour after a bug",
                either(*keeps_going, "to continue", "to stop"),
            ),
            ("verdict on leaks", either(*leaks_fail, "a bug", "no bug")),
            (
                "start of the exploration",
                either(*explores, "the first operation", "explore()"),
            ),
            ("symmetry reduction", either(*symmetry, "on", "off")),
            (
                "list of suppressed findings",
                match suppressions.as_slice() {
                    [] => "none".to_owned(),
                    all => all.join(", "),
                },
            ),
        ];
        search
            .into_iter()
            .chain(conditions.described())
            .chain(verdicts)
    }

    /// Returns the first property in which the tasks differ, with its value in this task and in the
    /// other.
    fn difference(&self, other: &Task) -> Option<(&'static str, String, String)> {
        let pairs = self.properties().zip(other.properties());
        let differing =
            |((what, value), (_, other))| (value != other).then_some((what, value, other));
        pairs.filter_map(differing).next()
    }
}

impl State<'static> {
    /// Returns the state to resume from and its strategy's saved data, or `None` for a new search.
    pub fn of(settings: &Settings) -> Result<Option<(State<'static>, Vec<u8>)>, CheckError> {
        let path = settings.resume.as_deref();
        path.map(|path| State::load(path, &Task::of(settings)))
            .transpose()
    }

    /// Reads the state that a search with this task resumes from, and its strategy's saved data.
    fn load(path: &Path, task: &Task) -> Result<(State<'static>, Vec<u8>), CheckError> {
        let unreadable = |reason: String| CheckError::Unreadable {
            path: path.to_owned(),
            reason,
        };
        let bytes = checkpoint_file::read(path).map_err(|error| unreadable(reason_of(&error)))?;
        let (mut state, strategy) = postcard::take_from_bytes::<State<'static>>(&bytes)
            .map_err(|_| unreadable(checkpoint_file::OTHER_VERSION.to_owned()))?;
        let mut parts = state.parts.iter().flatten();
        let are_consistent = parts.all(|part| part.names.is_consistent());
        if !state.names.is_consistent()
            || !are_consistent
            || !(0.0..1e12).contains(&state.elapsed_s)
        {
            return Err(unreadable(CONTRADICTORY.to_owned()));
        }
        if state.parts.is_none() {
            // The state does not contain which memory is private to a thread. Without this call,
            // false races would be reported.
            state.names.to_mut().order_atomics();
        }
        match state.task.difference(task) {
            None => Ok((state, strategy.to_vec())),
            Some((what, found, asked)) => Err(CheckError::ForeignCheckpoint {
                path: path.to_owned(),
                what,
                found,
                asked,
            }),
        }
    }
}

/// Runs `work`. A panic of resumed work means that its checkpoint contradicts itself.
pub(super) fn refused_if_contradictory<T>(
    resume: Option<PathBuf>,
    work: impl FnOnce() -> Result<T, CheckError>,
) -> Result<T, CheckError> {
    let Some(path) = resume else {
        return work();
    };
    contained(work).unwrap_or_else(|| {
        Err(CheckError::Unreadable {
            path,
            reason: CONTRADICTORY.to_owned(),
        })
    })
}

/// The file in which a search saves its state.
pub(crate) struct Checkpoint {
    path: PathBuf,
    /// The time of the last save.
    saved: Option<Instant>,
    /// Reused between saves.
    buffer: Vec<u8>,
    /// The warning that the last state could not be saved.
    unsaved: Option<String>,
}

impl Checkpoint {
    /// Creates the checkpoint. The file is written when the first state is saved.
    pub fn new(path: PathBuf) -> Checkpoint {
        Checkpoint {
            // The program may change the working directory.
            path: std::path::absolute(&path).unwrap_or(path),
            saved: None,
            buffer: Vec::new(),
            unsaved: None,
        }
    }

    /// Returns the warning for the report if the last state could not be saved.
    pub fn unsaved(&self) -> Option<String> {
        self.unsaved.clone()
    }

    /// Checks whether the last save was long enough ago for another one.
    pub fn is_due(&self) -> bool {
        self.saved.is_none_or(|saved| saved.elapsed() >= INTERVAL)
    }

    /// Saves the state of the search, and the saved data of the strategy. Returns an error only if
    /// the first save fails. If a later one fails, the search continues, so that its results are
    /// not lost.
    pub fn save(&mut self, state: &State<'_>, strategy: &[u8]) -> Result<(), CheckError> {
        self.buffer.clear();
        let buffer = std::mem::take(&mut self.buffer);
        self.buffer =
            postcard::to_extend(state, buffer).expect("a state consists of serializable data");
        self.buffer.extend_from_slice(strategy);
        let written = checkpoint_file::write(&self.path, &self.buffer);
        let is_first = self.saved.replace(Instant::now()).is_none();
        let written = written.map_err(|error| CheckError::Unwritable {
            path: self.path.clone(),
            reason: reason_of(&error),
        });
        if is_first {
            return written;
        }
        let unsaved = |error| format!("{error}; the checkpoint contains an earlier state");
        self.unsaved = written.err().map(unsaved);
        Ok(())
    }
}

/// Returns the message of the system, without the error number.
fn reason_of(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file or directory".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use explore::{Access, ObjectId, Op, OpKind, Outcome, Pending, Performed, Request};

    /// Returns the data that a search saves after one execution with one event.
    fn saved(algorithm: Algorithm) -> Vec<u8> {
        let op = Op {
            kind: OpKind::Store,
            access: Access::Write,
            object: ObjectId(1),
        };
        let performed = Performed::of(op);
        let mut strategy = algorithm.strategy(Options::default());
        assert!(strategy.backtrack());
        strategy
            .extend(&[Pending::Enabled(Request::plain(op))])
            .unwrap();
        strategy.performed(&performed);
        strategy.extend(&[Pending::Finished]).unwrap();
        strategy.analyse(Outcome::Completed);
        strategy.save()
    }

    /// The bytes change with the types that are saved.
    #[test]
    fn the_format_of_checkpoints_has_the_version_that_it_says() {
        let state = State {
            task: Task::of(&Settings::new()),
            tally: Cow::Owned(Tally::default()),
            failures: Cow::Owned(Failures::default()),
            warnings: Vec::new(),
            left_out: Vec::new(),
            suppressed: Vec::new(),
            goals: Cow::Owned(Vec::new()),
            names: Cow::Owned(Names::default()),
            elapsed_s: 0.0,
            parts: None,
            numbering: None,
            seen: Seen::default(),
        };
        let state = postcard::to_allocvec(&state).unwrap();
        // Checkpoints encode the algorithms as these numbers.
        let searches = [0, 1, 2, 3, 5, 6, 7, 8].map(|number| {
            let algorithm = postcard::from_bytes(&[number]).unwrap();
            saved(algorithm).len()
        });
        assert_eq!(
            (checkpoint_file::MAGIC.last(), state.len(), searches),
            (Some(&b'U'), 85, [57, 58, 58, 58, 63, 69, 63, 69]),
            "the format has changed: raise the version in MAGIC, and write both here"
        );
    }
}
