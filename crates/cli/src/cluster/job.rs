//! The data of a job on the server.

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

/// A job as it was submitted.
#[derive(Clone, Serialize, Deserialize)]
pub struct Job {
    /// The version of the command that submitted the job. Only workers of the same version work on
    /// it.
    pub version: String,
    /// The order that each process gets.
    pub order: Order,
    pub program: Program,
    /// How to build the program again, for schedules.
    pub recipe: Option<Recipe>,
}

/// The program that is run.
#[derive(Clone, Serialize, Deserialize)]
pub enum Program {
    /// A program of the corpus.
    Corpus(String),
    /// A program in machine code.
    Executable {
        /// The name of the program as its first argument, and its other arguments.
        arguments: Vec<String>,
        /// Files that workers need: the program and the libraries that do not belong to the system.
        files: Vec<PathBuf>,
        /// Libraries of the system with their checksums.
        system: Vec<(PathBuf, String)>,
    },
}

/// The leader of a job, and the progress of the job.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Lead {
    /// The number of workers that have led the job.
    pub term: u64,
    /// Changes as long as the leader is alive.
    pub beat: u64,
    /// The file with the last saved state of the search.
    pub state: Option<String>,
    /// Whether there is a report.
    pub is_done: bool,
    /// The number of executions so far.
    pub executions: u64,
    /// The fraction of the search that is done, if known.
    pub done: Option<f64>,
    /// The largest number of workers so far.
    pub jobs: usize,
    /// The total search time of all leaders so far. It counts against the time limit.
    pub took: Duration,
}

/// How an errand ended.
#[derive(Serialize, Deserialize)]
pub enum Outcome {
    /// The errand is done, with this result.
    Brought(Vec<u8>),
    /// The program ended the process with this status.
    Crashed(Trailed, i32),
    /// So many processes or workers died during the errand that it was given up.
    Lost(Trailed, i32),
    /// The errand cannot be done.
    Refused(String),
}

/// Returns the name of the record of a job.
pub fn job(id: &str) -> String {
    format!("job.{id}")
}

/// Returns the name of the record of the leader.
pub fn lead(id: &str) -> String {
    format!("lead.{id}")
}

/// Returns the name of the file with the result of the job, an answer in the format of processes.
pub fn report(id: &str) -> String {
    format!("{id}.report")
}

fn file(id: &str, index: usize) -> String {
    format!("{id}.file.{index}")
}

/// Returns the version of this command, which contains a checksum of its file.
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

/// Parses data from the server.
pub fn read<T: for<'d> Deserialize<'d>>(content: &[u8]) -> Option<T> {
    serde_json::from_slice(content).ok()
}

/// Serializes data for the server.
pub fn written(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("data for the server has no maps whose keys are not strings")
}

impl Job {
    /// Checks whether a job with this id exists, even if another version of this command wrote it
    /// in a way that this version cannot read.
    pub fn exists(cluster: &Cluster, id: &str) -> Result<bool, ClusterError> {
        Ok(cluster.record(&job(id))?.is_some())
    }

    /// Returns the job with this id, if it exists and can be read.
    pub fn of(cluster: &Cluster, id: &str) -> Result<Option<Job>, ClusterError> {
        let record = cluster.record(&job(id))?;
        Ok(record.and_then(|(content, _)| read(&content)))
    }
}

impl Program {
    /// Describes a program on this machine.
    pub fn of(executable: &Executable) -> Result<Program, Refusal> {
        let text = |word: &OsString| word.to_string_lossy().into_owned();
        let is_system = |path: &PathBuf| {
            path.starts_with("/lib") || path.starts_with("/usr/lib") || path.starts_with("/lib64")
        };
        let (system, others): (Vec<PathBuf>, Vec<PathBuf>) =
            libraries(&executable.path).into_iter().partition(is_system);
        let checksum = |path: PathBuf| {
            let content = fs::read(&path).map_err(unreadable)?;
            Ok((path, SafeTrace::checksum_of(&content)))
        };
        Ok(Program::Executable {
            arguments: executable.arguments.iter().map(text).collect(),
            files: [executable.path.clone()]
                .into_iter()
                .chain(others)
                .collect(),
            system: system
                .into_iter()
                .map(checksum)
                .collect::<Result<_, Refusal>>()?,
        })
    }

    /// Stores the files of the program for workers.
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

    /// Loads the program from the server into this folder. Returns `None` if the job is gone. The
    /// inner error says why the program cannot run here.
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
            let found = fs::read(path).map(|content| SafeTrace::checksum_of(&content));
            if found.as_ref().ok() != Some(checksum) {
                return Ok(Some(Err(format!(
                    "{} differs from the one on the machine that submitted the job",
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
            // The submitter chooses only the name of the file, not its folder.
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
