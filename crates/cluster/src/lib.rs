//! What Mazurka keeps on a NATS server while many machines search: records, files, errands that wait and what they brought.
//!
//! This crate knows nothing of searches. Whoever uses it blocks; the connection has a thread of its own. While the server is away
//! everything is tried again for a minute.
//!
//! * A **record** is an entry of a key-value bucket. It is replaced only by who knows its revision.
//! * A **file** is an object of an object store: programs, saved searches, reports.
//! * An **errand** waits in a stream until a worker takes it. It goes to another worker if the first one does not say for
//!   [`LEASE`] that it is at work. What it brings waits in the same stream for who leads the job.

#![forbid(unsafe_code)]

mod error;

pub use error::ClusterError;

use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::kv::{CreateErrorKind, UpdateErrorKind};
use async_nats::jetstream::object_store::ObjectStore;
use async_nats::jetstream::stream::{DiscardPolicy, RetentionPolicy, Stream};
use async_nats::jetstream::{AckKind, Context, kv, object_store, stream};
use async_nats::{ConnectOptions, HeaderMap, ServerAddr};
use futures_util::StreamExt;
use std::fmt::Display;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::io::AsyncReadExt;
use tokio::runtime::Runtime;
use tokio::time::{timeout, timeout_at};

/// How long a worker may be silent about its errand.
pub const LEASE: Duration = Duration::from_secs(5);

/// How long something is tried again while the server is away.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(200);

/// How long one attempt may take: what waits for a server that starts again may wait for ever.
const ATTEMPT: Duration = Duration::from_secs(20);

/// The slowest way to a server, in bytes in a second.
const SLOWEST: u64 = 100_000;

/// Messages of the server must be smaller than 1 MB; more goes into a file.
const LARGEST: usize = 512 << 10;

const STREAM: &str = "MAZURKA";
/// How the names of queues of errands begin; then comes a version.
const WORKERS: &str = "workers-";
const RECORDS: &str = "mazurka-records";
const FILES: &str = "mazurka-files";

/// The header of a message with its name.
const NAME: &str = "Mazurka-Name";
/// The header of a message whose content is in a file: the name of that.
const FILE: &str = "Mazurka-File";

/// A connection to the server.
pub struct Cluster {
    runtime: Runtime,
    server: String,
    jetstream: Context,
    stream: Stream,
    records: kv::Store,
    files: ObjectStore,
}

/// A message that waits for somebody.
pub struct Message {
    /// Its name.
    pub name: String,
    /// The job that it belongs to.
    pub job: String,
    /// How often it was delivered, with this time.
    pub delivered: u64,
    /// What it says.
    pub content: Vec<u8>,
    file: Option<String>,
    inner: async_nats::jetstream::Message,
}

/// Messages of one kind that wait.
pub struct Queue(PullConsumer);

/// How many messages wait or are being worked on, and how many workers want one.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Messages that were given to workers.
    pub under_way: usize,
    /// Workers that wait for one.
    pub idle: usize,
}

/// Where messages of a job wait.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// For a worker of this version.
    Errand,
    /// For who leads the job.
    Result,
}

impl Place {
    fn subject(self, version: &str, job: &str) -> String {
        match self {
            Place::Errand => format!("mazurka.errand.{version}.{job}"),
            Place::Result => format!("mazurka.result.{job}"),
        }
    }
}

/// A URL without its password.
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
    /// Connects to the server at this URL, with a file of credentials if one is given.
    ///
    /// # Errors
    /// If it cannot be reached, or does not have what is needed.
    pub fn connect(url: &str, credentials: Option<&Path>) -> Result<Cluster, ClusterError> {
        let server = without_password(url);
        let address: ServerAddr = url.parse().map_err(|error| ClusterError::Url {
            url: server.clone(),
            reason: said(error),
        })?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|error| ClusterError::Unreachable {
                server: server.clone(),
                reason: said(error),
            })?;
        let (jetstream, stream, records, files) = runtime.block_on(async {
            let mut options = ConnectOptions::new().connection_timeout(Duration::from_secs(5));
            if let Some(path) = credentials {
                let read = options.credentials_file(path).await;
                options = read.map_err(|error| ClusterError::Credentials {
                    path: path.to_owned(),
                    reason: said(error),
                })?;
            }
            let client = options.connect(address).await;
            let client = client.map_err(|error| ClusterError::Unreachable {
                server: server.clone(),
                reason: said(error),
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
            let stream = stream.await.map_err(|error| missing(said(error)))?;
            let records = match jetstream.get_key_value(RECORDS).await {
                Ok(records) => records,
                Err(_) => {
                    let created = jetstream.create_stream(bucket_of_records()).await;
                    created.map_err(|error| missing(said(error)))?;
                    let records = jetstream.get_key_value(RECORDS).await;
                    records.map_err(|error| missing(said(error)))?
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
                    .map_err(|error| missing(said(error)))?,
            };
            Ok((jetstream, stream, records, files))
        })?;
        Ok(Cluster {
            runtime,
            server,
            jetstream,
            stream,
            records,
            files,
        })
    }

    /// Tries until it is done, there is a reason against it, or the patience is over.
    fn done<T, E: Display>(
        &self,
        what: &'static str,
        mut attempt: impl AsyncFnMut() -> Result<T, E>,
    ) -> Result<T, ClusterError> {
        self.transferred(what, async || {
            within(ATTEMPT, attempt()).await?.map_err(said)
        })
    }

    /// The same for what knows itself how long an attempt may take.
    fn transferred<T>(
        &self,
        what: &'static str,
        mut attempt: impl AsyncFnMut() -> Result<T, String>,
    ) -> Result<T, ClusterError> {
        let started = Instant::now();
        self.runtime.block_on(async {
            loop {
                let reason = match attempt().await {
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

    /// The record of this name, and its revision.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub fn record(&self, name: &str) -> Result<Option<(Vec<u8>, u64)>, ClusterError> {
        let entry = self.done("read a record", async || self.records.entry(name).await)?;
        let entry = entry.filter(|entry| entry.operation == kv::Operation::Put);
        Ok(entry.map(|entry| (entry.value.to_vec(), entry.revision)))
    }

    /// Writes a record that is not there yet; whether it was not.
    ///
    /// # Errors
    /// If the server refuses it.
    pub fn create(&self, name: &str, content: &[u8]) -> Result<bool, ClusterError> {
        self.done("write a record", async || {
            match self.records.create(name, content.to_vec().into()).await {
                Ok(_) => Ok(true),
                Err(error) if error.kind() == CreateErrorKind::AlreadyExists => Ok(false),
                Err(error) => Err(error),
            }
        })
    }

    /// Writes a record over this revision of it, and gives the new one; none if somebody else was faster.
    ///
    /// # Errors
    /// If the server refuses it.
    pub fn replace(
        &self,
        name: &str,
        content: &[u8],
        revision: u64,
    ) -> Result<Option<u64>, ClusterError> {
        self.done("write a record", async || {
            let content = content.to_vec().into();
            match self.records.update(name, content, revision).await {
                Ok(revision) => Ok(Some(revision)),
                Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => Ok(None),
                Err(error) => Err(error),
            }
        })
    }

    /// Writes a record, whatever is there.
    ///
    /// # Errors
    /// If the server refuses it.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), ClusterError> {
        self.done("write a record", async || {
            self.records.put(name, content.to_vec().into()).await
        })?;
        Ok(())
    }

    /// Removes a record.
    ///
    /// # Errors
    /// If the server refuses it.
    pub fn remove(&self, name: &str) -> Result<(), ClusterError> {
        self.done("remove a record", async || self.records.purge(name).await)
    }

    /// The names of all records that begin like this.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub fn records(&self, beginning: &str) -> Result<Vec<String>, ClusterError> {
        let names = self.done("list records", async || {
            let keys = self.records.keys().await.map_err(said)?;
            let names: Vec<_> = keys.collect().await;
            let names: Result<Vec<String>, _> = names.into_iter().collect();
            names.map_err(said)
        })?;
        let names = names.into_iter();
        Ok(names.filter(|name| name.starts_with(beginning)).collect())
    }

    /// Stores a file, unless one of this name is there.
    ///
    /// # Errors
    /// If the server refuses it, as with a full disk.
    pub fn store(&self, name: &str, content: &[u8]) -> Result<(), ClusterError> {
        self.transferred("store a file", async || {
            let info = within(ATTEMPT, self.files.info(name)).await?;
            if info.is_ok_and(|info| !info.deleted) {
                return Ok(());
            }
            let mut rest = content;
            let stored = within(time_for(content.len()), self.files.put(name, &mut rest));
            stored.await?.map(|_| ()).map_err(said)
        })
    }

    /// Reads a file; none if there is none of this name.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub fn load(&self, name: &str) -> Result<Option<Vec<u8>>, ClusterError> {
        self.transferred("read a file", async || {
            use object_store::GetErrorKind;
            let mut object = match within(ATTEMPT, self.files.get(name)).await? {
                Ok(object) => object,
                Err(error) if error.kind() == GetErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(said(error)),
            };
            let mut content = Vec::new();
            let time = time_for(object.info.size);
            let read = within(time, object.read_to_end(&mut content));
            read.await?.map_err(said)?;
            Ok(Some(content))
        })
    }

    /// Removes all files whose names begin like this.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub fn remove_files(&self, beginning: &str) -> Result<(), ClusterError> {
        self.done("remove files", async || {
            let mut all = self.files.list().await.map_err(said)?;
            let mut names = Vec::new();
            while let Some(info) = all.next().await {
                names.push(info.map_err(said)?.name);
            }
            for name in names.iter().filter(|name| name.starts_with(beginning)) {
                // Somebody else may have been faster.
                let _ = self.files.delete(name).await;
            }
            Ok::<(), String>(())
        })
    }

    /// Leaves messages, each with its name, at their place. The same name within two minutes is the same message.
    ///
    /// # Errors
    /// If the server refuses one.
    pub fn leave(
        &self,
        (place, version, job): (Place, &str, &str),
        messages: &[(String, Vec<u8>)],
    ) -> Result<(), ClusterError> {
        let mut outgoing = Vec::new();
        for (name, content) in messages {
            let mut headers = HeaderMap::new();
            headers.insert(NAME, name.as_str());
            headers.insert("Nats-Msg-Id", format!("{job}.{place:?}.{name}").as_str());
            let mut content = content.as_slice();
            if content.len() > LARGEST {
                let file = format!("{job}.{place:?}.{name}");
                self.store(&file, content)?;
                headers.insert(FILE, file.as_str());
                content = &[];
            }
            outgoing.push((headers, content));
        }
        let subject = place.subject(version, job);
        self.done("leave a message", async || {
            let mut sent = Vec::new();
            for (headers, content) in &outgoing {
                let content = content.to_vec().into();
                let message =
                    self.jetstream
                        .publish_with_headers(subject.clone(), headers.clone(), content);
                sent.push(message.await.map_err(said)?);
            }
            // All are under way before the first one is waited for.
            for message in sent {
                message.await.map_err(said)?;
            }
            Ok::<_, String>(())
        })
    }

    /// The errands of all jobs for workers of this version.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub fn errands(&self, version: &str) -> Result<Queue, ClusterError> {
        self.queue(
            &format!("{WORKERS}{version}"),
            Place::Errand.subject(version, "*"),
        )
    }

    /// What errands of the job have brought.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub fn results(&self, job: &str) -> Result<Queue, ClusterError> {
        self.queue(&format!("lead-{job}"), Place::Result.subject("", job))
    }

    fn queue(&self, name: &str, subject: String) -> Result<Queue, ClusterError> {
        let consumer = self.done("open a queue", async || {
            let config = pull::Config {
                durable_name: Some(name.to_owned()),
                filter_subject: subject.clone(),
                ack_policy: AckPolicy::Explicit,
                ack_wait: LEASE,
                max_ack_pending: 100_000,
                ..pull::Config::default()
            };
            self.stream.get_or_create_consumer(name, config).await
        })?;
        Ok(Queue(consumer))
    }

    /// Waits for messages, at most so many and so long. There may be none.
    ///
    /// # Errors
    /// If what a message says is in a file that cannot be read.
    pub fn take(
        &self,
        queue: &Queue,
        most: usize,
        wait: Duration,
    ) -> Result<Vec<Message>, ClusterError> {
        let taken = self.runtime.block_on(async {
            let batch = queue.0.batch().max_messages(most).expires(wait);
            let mut taken = Vec::new();
            // While the server is away there is none.
            let Ok(Ok(mut messages)) = within(ATTEMPT, batch.messages()).await else {
                tokio::time::sleep(PAUSE).await;
                return taken;
            };
            let end = tokio::time::Instant::now() + wait + ATTEMPT;
            while let Ok(Some(Ok(message))) = timeout_at(end, messages.next()).await {
                taken.push(message);
            }
            taken
        });
        taken.into_iter().map(|inner| self.message(inner)).collect()
    }

    fn message(&self, inner: async_nats::jetstream::Message) -> Result<Message, ClusterError> {
        let header = |name: &str| {
            let headers = inner.headers.as_ref()?;
            Some(headers.get(name)?.as_str().to_owned())
        };
        let file = header(FILE);
        let content = match &file {
            Some(file) => self.load(file)?.unwrap_or_default(),
            None => inner.payload.to_vec(),
        };
        let delivered = inner.info().map_or(1, |info| info.delivered);
        Ok(Message {
            name: header(NAME).unwrap_or_default(),
            job: inner
                .subject
                .rsplit('.')
                .next()
                .unwrap_or_default()
                .to_owned(),
            delivered: u64::try_from(delivered).unwrap_or(1),
            content,
            file,
            inner,
        })
    }

    /// Takes note that the message is dealt with: nobody gets it any more.
    ///
    /// # Errors
    /// If the server cannot be told.
    pub fn settle(&self, message: &Message) -> Result<(), ClusterError> {
        self.done("settle a message", async || message.inner.ack().await)?;
        match &message.file {
            Some(file) => self.remove_files(file),
            None => Ok(()),
        }
    }

    /// Tells that the message is being worked on: nobody else gets it until [`LEASE`] is over.
    pub fn renew(&self, message: &Message) {
        // If this is lost the message goes to another worker, too, which does no harm.
        let renewed = message.inner.ack_with(AckKind::Progress);
        let _ = self
            .runtime
            .block_on(async { within(ATTEMPT, renewed).await });
    }

    /// How many workers there are, and what they do.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub fn load_of(&self, queue: &Queue) -> Result<Load, ClusterError> {
        let info = self.done("ask for workers", async || queue.0.get_info().await)?;
        Ok(Load {
            under_way: info.num_ack_pending,
            idle: info.num_waiting,
        })
    }

    /// The versions of the workers that are there.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub fn versions(&self) -> Result<Vec<String>, ClusterError> {
        self.done("ask for workers", async || {
            let mut versions = Vec::new();
            let mut consumers = self.stream.consumers();
            while let Some(consumer) = consumers.next().await {
                let consumer = consumer.map_err(said)?;
                let is_there = consumer.num_waiting + consumer.num_ack_pending > 0;
                let version = consumer.name.strip_prefix(WORKERS);
                versions.extend(version.filter(|_| is_there).map(str::to_owned));
            }
            Ok::<_, String>(versions)
        })
    }

    /// Removes the messages of a job.
    ///
    /// # Errors
    /// If the server refuses it.
    pub fn purge(&self, version: &str, job: &str) -> Result<(), ClusterError> {
        for place in [Place::Errand, Place::Result] {
            let subject = place.subject(version, job);
            self.done("remove messages", async || {
                self.stream.purge().filter(subject.clone()).await
            })?;
        }
        Ok(())
    }

    /// Removes the queue of results of a job.
    pub fn close_results(&self, job: &str) {
        // There may be none.
        let name = format!("lead-{job}");
        let deleted = self.stream.delete_consumer(&name);
        let _ = self
            .runtime
            .block_on(async { within(ATTEMPT, deleted).await });
    }
}

/// The stream of a key-value bucket. The client's own way to make one asks for what servers before 2.10 do not tell.
fn bucket_of_records() -> stream::Config {
    stream::Config {
        name: format!("KV_{RECORDS}"),
        subjects: vec![format!("$KV.{RECORDS}.>")],
        max_messages_per_subject: 1,
        discard: DiscardPolicy::New,
        allow_rollup: true,
        deny_delete: true,
        allow_direct: true,
        num_replicas: 1,
        ..stream::Config::default()
    }
}

/// What is done within this time.
async fn within<T>(time: Duration, done: impl Future<Output = T>) -> Result<T, String> {
    let done = timeout(time, done).await;
    done.map_err(|_| "it does not answer".to_owned())
}

/// How long it may take to send or to get so many bytes.
fn time_for(bytes: usize) -> Duration {
    ATTEMPT + Duration::from_secs(bytes as u64 / SLOWEST)
}

/// What a library says, in one line.
fn said(error: impl Display) -> String {
    error.to_string().replace('\n', " ")
}

/// Whether trying again is of no use.
fn is_final(reason: &str) -> bool {
    let reason = reason.to_lowercase();
    [
        "insufficient",
        "resource",
        "permission",
        "authorization",
        "maximum",
        "no space",
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
