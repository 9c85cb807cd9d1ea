//! What lies on the server for a job.

use crate::corpus_job;
use crate::refusal::Refusal;
use crate::runner::Executable;
use cluster::{Cluster, ClusterError};
use native::{Order, libraries};
use report::{Recipe, SafeTrace, Trailed};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A job, as it was submitted.
#[derive(Clone, Serialize, Deserialize)]
pub struct Job {
    /// Of the command that submitted it: only workers of the same one do it.
    pub version: String,
    /// What each process is told.
    pub order: Order,
    pub program: Program,
    /// How the program is made again, for schedules.
    pub recipe: Option<Recipe>,
}

/// What is run.
#[derive(Clone, Serialize, Deserialize)]
pub enum Program {
    /// A program of the corpus.
    Corpus(String),
    /// A program in machine code.
    Executable {
        /// The name that it knows itself by, and its arguments.
        arguments: Vec<String>,
        /// Files that workers need: the program, then libraries that do not belong to the system.
        files: Vec<PathBuf>,
        /// Libraries of the system, with their checksums.
        system: Vec<(PathBuf, String)>,
    },
}

/// Who leads a job, and how far it has come.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Lead {
    /// Counts the workers that led.
    pub term: u64,
    /// Changes as long as the one that leads is alive.
    pub beat: u64,
    /// The file with the search as it was saved last.
    pub state: Option<String>,
    /// There is a report.
    pub is_done: bool,
    /// Executions so far.
    pub executions: u64,
    /// The part of the search that is done, if it can be told.
    pub done: Option<f64>,
    /// How many workers there were.
    pub jobs: usize,
    /// How long the workers that led have searched so far; it counts against the time limit.
    pub took: Duration,
}

/// What an errand has come to.
#[derive(Serialize, Deserialize)]
pub enum Outcome {
    /// It is done.
    Brought(Vec<u8>),
    /// The program ended the process, which ended with this status.
    Crashed(Trailed, i32),
    /// It has lost too many workers.
    Lost(Trailed, i32),
    /// It cannot be done.
    Refused(String),
}

/// Names of what belongs to a job.
pub fn job(id: &str) -> String {
    format!("job.{id}")
}

/// The record of who leads.
pub fn lead(id: &str) -> String {
    format!("lead.{id}")
}

/// The file with what the job has come to: an answer as processes give it.
pub fn report(id: &str) -> String {
    format!("{id}.report")
}

fn file(id: &str, index: usize) -> String {
    format!("{id}.file.{index}")
}

/// The command of which workers do jobs of each other: the same file.
pub fn version() -> Result<String, Refusal> {
    let command = std::env::current_exe().and_then(fs::read);
    let command = command.map_err(|error| Refusal::System {
        what: "read this command",
        error,
    })?;
    let checksum = SafeTrace::checksum_of(&command);
    let checksum: String = checksum
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    Ok(format!(
        "{}-{}-{checksum}",
        env!("CARGO_PKG_VERSION").replace('.', "_"),
        std::env::consts::ARCH
    ))
}

/// What is read from the server.
pub fn read<T: for<'d> Deserialize<'d>>(content: &[u8]) -> Option<T> {
    serde_json::from_slice(content).ok()
}

/// As it is written to the server.
pub fn written(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("what lies on the server has only maps from strings")
}

impl Job {
    /// The job of this id, if there is one.
    pub fn of(cluster: &Cluster, id: &str) -> Result<Option<Job>, ClusterError> {
        let record = cluster.record(&job(id))?;
        Ok(record.and_then(|(content, _)| read(&content)))
    }
}

impl Program {
    /// A program that is here.
    pub fn of(executable: &Executable) -> Result<Program, Refusal> {
        let text = |word: &OsString| word.to_string_lossy().into_owned();
        let is_system = |path: &PathBuf| {
            path.starts_with("/lib") || path.starts_with("/usr/lib") || path.starts_with("/lib64")
        };
        let (system, own): (Vec<PathBuf>, Vec<PathBuf>) =
            libraries(&executable.path).into_iter().partition(is_system);
        let checksum = |path: PathBuf| {
            let content = fs::read(&path).map_err(unreadable)?;
            Ok((path, SafeTrace::checksum_of(&content)))
        };
        Ok(Program::Executable {
            arguments: executable.arguments.iter().map(text).collect(),
            files: [executable.path.clone()].into_iter().chain(own).collect(),
            system: system
                .into_iter()
                .map(checksum)
                .collect::<Result<_, Refusal>>()?,
        })
    }

    /// Stores its files for workers.
    pub fn store(&self, cluster: &Cluster, id: &str) -> Result<(), Refusal> {
        let Program::Executable { files, .. } = self else {
            return Ok(());
        };
        for (index, path) in files.iter().enumerate() {
            let content = fs::read(path).map_err(unreadable)?;
            cluster.store(&file(id, index), &content)?;
        }
        Ok(())
    }

    /// Gets it from the server into this folder. Nothing if the job is gone; why not, if it cannot be run here.
    pub fn fetch(
        &self,
        cluster: &Cluster,
        id: &str,
        folder: &Path,
    ) -> Result<Option<Result<Executable, String>>, Refusal> {
        let (arguments, files, system) = match self {
            Program::Corpus(name) => {
                let instance = corpus::parse(name)?;
                return Ok(Some(Ok(corpus_job::executable(&instance)?)));
            }
            Program::Executable {
                arguments,
                files,
                system,
            } => (arguments, files, system),
        };
        for (path, checksum) in system {
            let own = fs::read(path).map(|content| SafeTrace::checksum_of(&content));
            if own.as_ref().ok() != Some(checksum) {
                return Ok(Some(Err(format!(
                    "{} is another one here than where the job was submitted",
                    path.display()
                ))));
            }
        }
        let scratch = |error| Refusal::System {
            what: "write to the scratch folder",
            error,
        };
        fs::create_dir_all(folder).map_err(scratch)?;
        for (index, path) in files.iter().enumerate() {
            let Some(content) = cluster.load(&file(id, index))? else {
                return Ok(None);
            };
            // Only the name of the file is the submitter's.
            let name = path.file_name().unwrap_or_default();
            let place = folder.join(if index == 0 { "program".as_ref() } else { name });
            fs::write(&place, content).map_err(scratch)?;
            let executable = fs::Permissions::from_mode(0o700);
            fs::set_permissions(&place, executable).map_err(scratch)?;
        }
        Ok(Some(Ok(Executable {
            path: folder.join("program"),
            arguments: arguments.iter().map(Into::into).collect(),
            libraries: Some(folder.to_owned()),
        })))
    }
}

fn unreadable(error: std::io::Error) -> Refusal {
    Refusal::System {
        what: "read the program",
        error,
    }
}
