//! The state on a NATS server while many machines search: records, files, waiting errands and their
//! results.
//!
//! This crate knows nothing about searches. Its functions block; the connection has a thread of its
//! own. While the server is unreachable, most operations are retried for a minute.
//!
//! * A **record** is an entry of a key-value bucket. [`Cluster::replace`] requires the current
//!   revision of the record, so a worker that does not know the latest content cannot replace it.
//! * A **file** is an object of an object store: programs, saved searches, reports.
//! * An **errand** is a task for a worker. It waits in a stream until a worker takes it. If this
//!   worker reports no progress for the duration [`LEASE`], another worker gets the errand. Results
//!   wait in the same stream for the worker that leads the job.

#![forbid(unsafe_code)]

mod error;
mod files;
mod queues;
mod records;

pub use error::ClusterError;
pub use queues::{LEASE, Load, Message, Place, Queue};

use async_nats::jetstream::object_store::{self, ObjectStore};
use async_nats::jetstream::stream::{self, RetentionPolicy, Stream};
use async_nats::jetstream::{Context, kv};
use async_nats::{ConnectOptions, ServerAddr};
use futures_util::future::{Either, select};
use futures_util::{StreamExt, TryStreamExt};
use records::bucket_of_records;
use std::fmt::Display;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio::time::timeout;

/// The time for which operations are retried while the server is unreachable.
const PATIENCE: Duration = Duration::from_secs(60);
/// The pause between two attempts, and between two checks of the flag `stop`.
const PAUSE: Duration = Duration::from_millis(200);

/// The time that a running operation still gets after the command has been asked to end.
const MOMENT: Duration = Duration::from_millis(400);

/// The time limit of one attempt. Without a limit, an attempt may wait forever after the server
/// restarts.
const ATTEMPT: Duration = Duration::from_secs(20);

const STREAM: &str = "MAZURKA";
const RECORDS: &str = "mazurka-records";
const FILES: &str = "mazurka-files";

/// A connection to the server.
pub struct Cluster {
    runtime: Runtime,
    server: String,
    jetstream: Context,
    stream: Stream,
    records: kv::Store,
    files: ObjectStore,
    /// The stream that contains the files.
    stored: Stream,
    /// Set when the command must not wait any longer.
    stop: Arc<AtomicBool>,
}

/// Returns a URL without its user name, password or token.
#[must_use]
pub fn without_password(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, rest)) => match rest.rsplit_once('@') {
            Some((_, host)) => format!("{scheme}://{host}"),
            None => url.to_owned(),
        },
        None => url.rsplit('@').next().unwrap_or(url).to_owned(),
    }
}

impl Cluster {
    /// Connects to the server at this URL, with a credentials file if one is given.
    ///
    /// # Errors
    /// Returns an error if the server cannot be reached or lacks a required feature.
    pub fn connect(url: &str, credentials: Option<&Path>) -> Result<Cluster, ClusterError> {
        let server = without_password(url);
        let address: ServerAddr = url.parse().map_err(|error| ClusterError::Url {
            url: server.clone(),
            reason: one_line(error),
        })?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|error| ClusterError::Unreachable {
                server: server.clone(),
                reason: one_line(error),
            })?;
        let (jetstream, stream, records, (files, stored)) = runtime.block_on(async {
            let mut options = ConnectOptions::new().connection_timeout(Duration::from_secs(5));
            if let Some(path) = credentials {
                let read = options.credentials_file(path).await;
                options = read.map_err(|error| ClusterError::Credentials {
                    path: path.to_owned(),
                    reason: one_line(error),
                })?;
            }
            let client = options.connect(address).await;
            let client = client.map_err(|error| ClusterError::Unreachable {
                server: server.clone(),
                reason: one_line(error),
            })?;
            let jetstream = async_nats::jetstream::new(client);
            let missing = |reason: String| ClusterError::NoJetStream {
                server: server.clone(),
                reason,
            };
            let stream = jetstream.get_or_create_stream(stream::Config {
                name: STREAM.to_owned(),
                subjects: vec![
                    "mazurka.errand.*.*".to_owned(),
                    "mazurka.result.*".to_owned(),
                ],
                retention: RetentionPolicy::WorkQueue,
                ..stream::Config::default()
            });
            let stream = stream.await.map_err(|error| missing(one_line(error)))?;
            let records = match jetstream.get_key_value(RECORDS).await {
                Ok(records) => records,
                Err(_) => {
                    let created = jetstream.create_stream(bucket_of_records()).await;
                    created.map_err(|error| missing(one_line(error)))?;
                    let records = jetstream.get_key_value(RECORDS).await;
                    records.map_err(|error| missing(one_line(error)))?
                }
            };
            let files = match jetstream.get_object_store(FILES).await {
                Ok(files) => files,
                Err(_) => jetstream
                    .create_object_store(object_store::Config {
                        bucket: FILES.to_owned(),
                        ..object_store::Config::default()
                    })
                    .await
                    .map_err(|error| missing(one_line(error)))?,
            };
            let stored = jetstream.get_stream(format!("OBJ_{FILES}")).await;
            let stored = stored.map_err(|error| missing(one_line(error)))?;
            Ok((jetstream, stream, records, (files, stored)))
        })?;
        Ok(Cluster {
            runtime,
            server,
            jetstream,
            stream,
            records,
            files,
            stored,
            stop: Arc::default(),
        })
    }

    /// Makes operations fail as [interrupted](ClusterError::Interrupted) soon after the flag is
    /// set.
    #[must_use]
    pub fn until(self, stop: Arc<AtomicBool>) -> Cluster {
        Cluster { stop, ..self }
    }

    /// Returns the result of a future, or `None` if the flag `stop` is set and the future is not
    /// ready soon afterwards.
    async fn until_stopped<T>(&self, done: impl Future<Output = T>) -> Option<T> {
        let stopped = async {
            while !self.stop.load(Relaxed) {
                tokio::time::sleep(PAUSE).await;
            }
            tokio::time::sleep(MOMENT).await;
        };
        match select(pin!(done), pin!(stopped)).await {
            Either::Left((done, _)) => Some(done),
            Either::Right(_) => None,
        }
    }

    /// Performs an operation. Repeats failed attempts until one succeeds, an error is final,
    /// `PATIENCE` has passed, or the command is asked to end.
    fn done<T, E: Display>(
        &self,
        what: &'static str,
        mut attempt: impl AsyncFnMut() -> Result<T, E>,
    ) -> Result<T, ClusterError> {
        self.transferred(what, async || {
            within(ATTEMPT, attempt()).await?.map_err(one_line)
        })
    }

    /// Retries like [`done`](Self::done), for attempts that have a time limit of their own.
    fn transferred<T>(
        &self,
        what: &'static str,
        mut attempt: impl AsyncFnMut() -> Result<T, String>,
    ) -> Result<T, ClusterError> {
        let started = Instant::now();
        self.runtime.block_on(async {
            loop {
                let Some(attempted) = self.until_stopped(attempt()).await else {
                    return Err(ClusterError::Interrupted {
                        server: self.server.clone(),
                    });
                };
                let reason = match attempted {
                    Ok(done) => return Ok(done),
                    Err(reason) => reason,
                };
                if started.elapsed() > PATIENCE || is_final(&reason) {
                    return Err(ClusterError::Refused {
                        server: self.server.clone(),
                        what,
                        reason,
                    });
                }
                tokio::time::sleep(PAUSE).await;
            }
        })
    }
}

/// Returns the subjects of all matching messages in a stream. Does not use the functions of
/// `async_nats` that list keys and files. Those functions receive the messages, and wait forever
/// if one of them is replaced meanwhile.
async fn subjects(stream: &Stream, filter: &str) -> Result<Vec<String>, String> {
    let found = stream.info_with_subjects(filter).await.map_err(one_line)?;
    let found = found.map(|subject| subject.map(|(subject, _)| subject));
    found.try_collect().await.map_err(one_line)
}

/// Returns the result of a future, or an error if the future is not ready within this time.
async fn within<T>(time: Duration, done: impl Future<Output = T>) -> Result<T, String> {
    let done = timeout(time, done).await;
    done.map_err(|_| "the server does not answer".to_owned())
}

/// Returns the error of a library in one line.
fn one_line(error: impl Display) -> String {
    error.to_string().replace('\n', " ")
}

/// Checks whether a retry after this error is useless.
fn is_final(reason: &str) -> bool {
    let reason = reason.to_lowercase();
    [
        "insufficient",
        "resource",
        "permission",
        "authorization",
        "maximum",
        "no space",
        "key cannot",
    ]
    .iter()
    .any(|part| reason.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_never_shown() {
        for url in [
            "nats://me:secret@host:4222",
            "me:secret@host",
            "tls://token@host",
        ] {
            let shown = without_password(url);
            assert!(
                shown.ends_with("host") || shown.ends_with("host:4222"),
                "{shown}"
            );
            assert!(
                !shown.contains("secret") && !shown.contains("token"),
                "{shown}"
            );
        }
        assert_eq!(without_password("nats://host:4222"), "nats://host:4222");
    }

    #[test]
    fn without_a_server_one_line_says_so() {
        let error = Cluster::connect("nats://127.0.0.1:9", None).err().unwrap();
        let error = error.to_string();
        assert!(
            error.contains("cannot connect") && !error.contains('\n'),
            "{error}"
        );
        let error = Cluster::connect("nats://host:port", None).err().unwrap();
        assert!(matches!(error, ClusterError::Url { .. }), "{error}");
    }
}
