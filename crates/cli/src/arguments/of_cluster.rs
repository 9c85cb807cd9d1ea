//! The command line of searches on many machines.

use super::ReportOptions;
use crate::cluster::Server;
use crate::jobs::Jobs;
use clap::Args;
use std::path::PathBuf;

/// Options of `worker`.
#[derive(Args)]
pub struct WorkerOptions {
    #[command(flatten)]
    pub server: Server,
    /// Do so many errands at the same time [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Work although this is root: whoever may submit jobs is root here then
    #[arg(long)]
    pub as_root: bool,
}

impl WorkerOptions {
    /// Returns the number of errands that are done at the same time.
    pub fn number(&self) -> usize {
        Jobs::of(self.jobs).number()
    }
}

/// Options of `attach`.
#[derive(Args)]
pub struct AttachOptions {
    #[command(flatten)]
    pub server: Server,
    /// The job, as `mazurka jobs` shows it
    #[arg(value_name = "JOB")]
    pub job: String,
    #[command(flatten)]
    pub report: ReportOptions,
}

/// Options of `cancel`.
#[derive(Args)]
pub struct CancelOptions {
    #[command(flatten)]
    pub server: Server,
    /// The job, as `mazurka jobs` shows it
    #[arg(value_name = "JOB")]
    pub job: String,
}

/// Options of `submit-test`.
#[derive(Args)]
pub struct SubmitTestOptions {
    #[command(flatten)]
    pub server: Server,
    /// The executable of the tests
    pub executable: PathBuf,
    /// The test, as it knows itself
    pub name: String,
}
