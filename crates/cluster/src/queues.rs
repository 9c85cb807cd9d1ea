//! Queues of messages: *errands* (tasks) for workers, and results for the *leader*, the worker that
//! leads a job. A worker gets only errands for its own version of Mazurka.

use crate::{ATTEMPT, Cluster, ClusterError, PAUSE, one_line, within};
use async_nats::HeaderMap;
use async_nats::jetstream::AckKind;
use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use futures_util::StreamExt;
use std::time::Duration;
use tokio::time::timeout_at;

/// The time after which an errand of a silent worker goes to another worker.
pub const LEASE: Duration = Duration::from_secs(5);

/// The largest content of a message, in bytes. Larger content is put into a file. The server itself
/// permits 1 MB.
const LARGEST: usize = 512 << 10;

/// The prefix of the names of queues of errands. A version follows.
const WORKERS: &str = "workers-";

/// The header with the name of a message.
const NAME: &str = "Mazurka-Name";
/// The header with the name of the file that holds the content of a message.
const FILE: &str = "Mazurka-File";

/// A message in a queue.
pub struct Message {
    /// Its name.
    pub name: String,
    /// The job to which the message belongs.
    pub job: String,
    /// The number of times that the message was delivered, including this time.
    pub delivered: u64,
    /// Its content. Empty if the file that held the content no longer exists.
    pub content: Vec<u8>,
    /// The name of the file that holds the content, if the content was too large for a message.
    file: Option<String>,
    inner: async_nats::jetstream::Message,
}

/// A queue of messages of one kind.
pub struct Queue {
    name: String,
    subject: String,
    consumer: PullConsumer,
}

/// The numbers of messages in progress and of idle workers.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// The number of messages that workers are processing.
    pub under_way: usize,
    /// The number of workers that wait for a message.
    pub idle: usize,
}

/// A place where messages of a job wait.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// Errands, for workers of the given version.
    Errand,
    /// Results for the leader of the job.
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
    /// Sends messages, each with its name, to a [`Place`] of the job. The server drops a message if
    /// a message of this name was sent to the place in the last two minutes.
    ///
    /// # Errors
    /// Returns an error if the server refuses a message.
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
        self.done("send a message", async || {
            let mut sent = Vec::new();
            for (headers, content) in &outgoing {
                let content = content.to_vec().into();
                let message =
                    self.jetstream
                        .publish_with_headers(subject.clone(), headers.clone(), content);
                sent.push(message.await.map_err(one_line)?);
            }
            // All messages are sent before the first acknowledgement is awaited.
            for message in sent {
                message.await.map_err(one_line)?;
            }
            Ok::<_, String>(())
        })
    }

    /// Returns the queue of errands of all jobs, for workers of this version.
    ///
    /// # Errors
    /// Returns an error if the server cannot be queried.
    pub fn errands(&self, version: &str) -> Result<Queue, ClusterError> {
        self.queue(
            &format!("{WORKERS}{version}"),
            Place::Errand.subject(version, "*"),
        )
    }

    /// Returns the queue of the job's results.
    ///
    /// # Errors
    /// Returns an error if the server cannot be queried.
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

    /// Reopens a queue, so that all messages that are not acknowledged are delivered again. This is
    /// needed after a server was killed: the queue may then fail to deliver existing messages.
    ///
    /// # Errors
    /// Returns an error if the server cannot be queried.
    pub fn open_anew(&self, queue: &Queue) -> Result<(), ClusterError> {
        self.close(&queue.name);
        self.queue(&queue.name, queue.subject.clone())?;
        Ok(())
    }

    fn close(&self, name: &str) {
        // An error does not matter: the queue may not exist.
        let deleted = self.stream.delete_consumer(name);
        let _ = self
            .runtime
            .block_on(async { within(ATTEMPT, deleted).await });
    }

    /// Waits for a message for the time `wait`, or longer if the server is slow. Also takes other
    /// available messages, up to `most` in all. Returns no message if none has arrived, the server
    /// is unreachable, or the command was asked to end.
    ///
    /// # Errors
    /// Returns an error if the content of a message is in a file that cannot be read.
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

    /// Returns the messages with which the server answers a request. Reads the answer to its end,
    /// because the server would otherwise continue to send.
    async fn received<E>(
        &self,
        request: impl Future<Output = Result<pull::Batch, E>>,
        wait: Duration,
    ) -> Vec<async_nats::jetstream::Message> {
        let mut received = Vec::new();
        // The request fails while the server is unreachable.
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

    /// Acknowledges a message, so that the message is not delivered again, and removes the file of
    /// its content, if there is one.
    ///
    /// # Errors
    /// Returns an error if the server cannot be notified, or cannot remove the file.
    pub fn settle(&self, message: &Message) -> Result<(), ClusterError> {
        self.done("acknowledge a message", async || message.inner.ack().await)?;
        match &message.file {
            Some(file) => self.remove_file(file),
            None => Ok(()),
        }
    }

    /// Reports that a message is in progress, so that no other worker gets the message for another
    /// [`LEASE`].
    pub fn renew(&self, message: &Message) {
        // If this report is lost, another worker also gets the message, which is harmless.
        let renewed = message.inner.ack_with(AckKind::Progress);
        let _ = self
            .runtime
            .block_on(async { within(ATTEMPT, renewed).await });
    }

    /// Returns the number of messages of the queue that workers are processing, and the number of
    /// workers that wait for one.
    ///
    /// # Errors
    /// Returns an error if the server cannot be queried.
    pub fn load_of(&self, queue: &Queue) -> Result<Load, ClusterError> {
        let info = self.done("query the workers", async || {
            queue.consumer.get_info().await
        })?;
        Ok(Load {
            under_way: info.num_ack_pending,
            idle: info.num_waiting,
        })
    }

    /// Returns the versions of the workers that wait for errands or process them.
    ///
    /// # Errors
    /// Returns an error if the server cannot be queried.
    pub fn versions(&self) -> Result<Vec<String>, ClusterError> {
        self.done("query the workers", async || {
            let mut versions = Vec::new();
            let mut consumers = self.stream.consumers();
            while let Some(consumer) = consumers.next().await {
                let consumer = consumer.map_err(one_line)?;
                let is_there = consumer.num_waiting + consumer.num_ack_pending > 0;
                let version = consumer.name.strip_prefix(WORKERS);
                versions.extend(version.filter(|_| is_there).map(str::to_owned));
            }
            Ok::<_, String>(versions)
        })
    }

    /// Removes the messages of a job: its errands for workers of this version, and its results.
    ///
    /// # Errors
    /// Returns an error if the server refuses.
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
