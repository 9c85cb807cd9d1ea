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
    /// Number of parallel tasks [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Allow running as root; everyone who can submit jobs then has root access to this machine
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
    /// Id of the job, as listed by `mazurka jobs`
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
    /// Id of the job, as listed by `mazurka jobs`
    #[arg(value_name = "JOB")]
    pub job: String,
}

/// Options of `submit-test`.
#[derive(Args)]
pub struct SubmitTestOptions {
    #[command(flatten)]
    pub server: Server,
    /// The test executable
    pub executable: PathBuf,
    /// The full name of the test
    pub name: String,
}
