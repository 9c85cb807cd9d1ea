//! Searches on many machines: a job is stored on a NATS server, and workers carry out its errands.
//!
//! One of the workers leads the job. It keeps the rest of the search, gives errands (pieces of the
//! search) to workers, and accepts their results. It regularly saves the rest of the search and
//! announces in a record that it is alive. If it stops, another worker continues from the saved
//! state in the next *term*. The leader accepts one result for each errand of its own term, and no
//! results of earlier terms. So nothing is counted twice, however often messages are delivered.

mod job;
mod lead;
mod submit;
mod worker;

pub use job::Program;
pub use submit::{attach, cancel, jobs, search, submit_test};
pub use worker::work;

use crate::refusal::Refusal;
use cluster::Cluster;
use std::path::PathBuf;

/// How to reach the server.
#[derive(clap::Args, Clone)]
pub struct Server {
    /// The NATS server: nats://HOST:4222 or tls://HOST:4222, with USER:PASSWORD@ before the host if
    /// required
    #[arg(value_name = "URL")]
    pub url: String,
    /// Credentials file for the server, as written by `nsc`
    #[arg(long, value_name = "FILE", env = "MAZURKA_CREDENTIALS")]
    pub credentials: Option<PathBuf>,
}

impl Server {
    fn connect(&self) -> Result<Cluster, Refusal> {
        Ok(Cluster::connect(&self.url, self.credentials.as_deref())?)
    }
}
