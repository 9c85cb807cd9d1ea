//! Messages that wait: errands for workers, and what they brought for who leads the job.

use crate::{ATTEMPT, Cluster, ClusterError, PAUSE, said, within};
use async_nats::HeaderMap;
use async_nats::jetstream::AckKind;
use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use futures_util::StreamExt;
use std::time::Duration;
use tokio::time::timeout_at;

/// How long a worker may be silent about its errand.
pub const LEASE: Duration = Duration::from_secs(5);

/// Messages of the server must be smaller than 1 MB; more goes into a file.
const LARGEST: usize = 512 << 10;

/// How the names of queues of errands begin; then comes a version.
const WORKERS: &str = "workers-";

/// The header of a message with its name.
const NAME: &str = "Mazurka-Name";
/// The header of a message whose content is in a file: the name of that.
const FILE: &str = "Mazurka-File";

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
pub struct Queue {
    name: String,
    subject: String,
    consumer: PullConsumer,
}

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

impl Cluster {
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
        Ok(Queue {
            name: name.to_owned(),
            subject,
            consumer,
        })
    }

    /// Opens a queue anew: all its messages are delivered again. After a server was killed, a queue may not deliver messages that are there.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub fn open_anew(&self, queue: &Queue) -> Result<(), ClusterError> {
        self.close(&queue.name);
        self.queue(&queue.name, queue.subject.clone())?;
        Ok(())
    }

    fn close(&self, name: &str) {
        // There may be none.
        let deleted = self.stream.delete_consumer(name);
        let _ = self
            .runtime
            .block_on(async { within(ATTEMPT, deleted).await });
    }

    /// Waits for a message, at most so long, and takes with it what else is there, so many in all. There may be none.
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
            let first = queue
                .consumer
                .batch()
                .max_messages(1)
                .expires(wait)
                .messages();
            let mut taken = self.received(first, wait).await;
            if most > 1 && !taken.is_empty() {
                let others = queue.consumer.fetch().max_messages(most - 1).messages();
                taken.extend(self.received(others, wait).await);
            }
            taken
        });
        taken.into_iter().map(|inner| self.message(inner)).collect()
    }

    /// The messages that this request gets. It is read to its end, or the server would go on sending.
    async fn received<E>(
        &self,
        request: impl Future<Output = Result<pull::Batch, E>>,
        wait: Duration,
    ) -> Vec<async_nats::jetstream::Message> {
        let mut received = Vec::new();
        // While the server is away there is none.
        let Ok(Ok(mut messages)) = within(ATTEMPT, request).await else {
            tokio::time::sleep(PAUSE).await;
            return received;
        };
        let end = tokio::time::Instant::now() + wait + ATTEMPT;
        let mut next = async || self.until_stopped(timeout_at(end, messages.next())).await;
        while let Some(Ok(Some(Ok(message)))) = next().await {
            received.push(message);
        }
        received
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
            Some(file) => self.remove_file(file),
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
        let info = self.done("ask for workers", async || queue.consumer.get_info().await)?;
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
        self.close(&format!("lead-{job}"));
    }
}
