//! Records, which are entries of a key-value bucket. Each change of a record gives it a new
//! *revision*. [`Cluster::replace`] requires the current revision, and [`Cluster::write`] does not.

use crate::{Cluster, ClusterError, RECORDS, subjects};
use async_nats::jetstream::kv::{self, CreateErrorKind, UpdateErrorKind};
use async_nats::jetstream::stream::{self, DiscardPolicy};

impl Cluster {
    /// Returns the content and the revision of the record with this name, or `None` if there is no
    /// such record.
    ///
    /// # Errors
    /// Returns an error if the server cannot be queried.
    pub fn record(&self, name: &str) -> Result<Option<(Vec<u8>, u64)>, ClusterError> {
        let entry = self.done("read a record", async || self.records.entry(name).await)?;
        let entry = entry.filter(|entry| entry.operation == kv::Operation::Put);
        Ok(entry.map(|entry| (entry.value.to_vec(), entry.revision)))
    }

    /// Creates a record. Returns false if the record already exists.
    ///
    /// # Errors
    /// Returns an error if the server refuses.
    pub fn create(&self, name: &str, content: &[u8]) -> Result<bool, ClusterError> {
        self.done("write a record", async || {
            match self.records.create(name, content.to_vec().into()).await {
                Ok(_) => Ok(true),
                Err(error) if error.kind() == CreateErrorKind::AlreadyExists => Ok(false),
                Err(error) => Err(error),
            }
        })
    }

    /// Replaces this revision of a record. Returns the new revision, or `None` if the record has
    /// changed in the meantime.
    ///
    /// # Errors
    /// Returns an error if the server refuses.
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

    /// Writes a record, whether or not the record exists.
    ///
    /// # Errors
    /// Returns an error if the server refuses.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), ClusterError> {
        self.done("write a record", async || {
            self.records.put(name, content.to_vec().into()).await
        })?;
        Ok(())
    }

    /// Removes a record, if it exists. This does not use `Store::purge`, which leaves a marker.
    ///
    /// # Errors
    /// Returns an error if the server refuses.
    pub fn remove(&self, name: &str) -> Result<(), ClusterError> {
        let subject = format!("{}{name}", self.records.prefix);
        self.done("remove a record", async || {
            self.records.stream.purge().filter(subject.as_str()).await
        })?;
        Ok(())
    }

    /// Returns all names of records that begin with this word and a full stop.
    ///
    /// # Errors
    /// Returns an error if the server cannot be queried.
    pub fn records(&self, word: &str) -> Result<Vec<String>, ClusterError> {
        let prefix = &self.records.prefix;
        let all = format!("{prefix}{word}.>");
        let found = self.done("list records", async || {
            subjects(&self.records.stream, &all).await
        })?;
        let names = found
            .iter()
            .filter_map(|subject| subject.strip_prefix(prefix));
        Ok(names.map(str::to_owned).collect())
    }
}

/// Returns the configuration of the stream behind the key-value bucket. `connect` creates the
/// stream itself, because the function of `async_nats` that creates a bucket requires information
/// that servers before 2.10 do not provide.
pub(crate) fn bucket_of_records() -> stream::Config {
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
