//! Files, which are objects of an object store. The store keeps a file as messages of a stream: a
//! description and the content, under two different subjects.

use crate::{ATTEMPT, Cluster, ClusterError, FILES, one_line, subjects, within};
use async_nats::jetstream::object_store;
use async_nats::jetstream::object_store::InfoErrorKind;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE;
use std::time::Duration;
use tokio::io::AsyncReadExt;

/// The rate of the slowest supported connection, in bytes per second.
const SLOWEST: u64 = 100_000;

impl Cluster {
    /// Stores a file, unless a file of this name exists.
    ///
    /// # Errors
    /// Returns an error if the server refuses the file, for example because its disk is full.
    pub fn store(&self, name: &str, content: &[u8]) -> Result<(), ClusterError> {
        self.transferred("store a file", async || {
            let info = within(ATTEMPT, self.files.info(name)).await?;
            if info.is_ok_and(|info| !info.deleted) {
                return Ok(());
            }
            let mut rest = content;
            let stored = within(time_for(content.len()), self.files.put(name, &mut rest));
            stored.await?.map(|_| ()).map_err(one_line)
        })
    }

    /// Reads a file. Returns `None` if no file has this name.
    ///
    /// # Errors
    /// Returns an error if the server cannot be queried.
    pub fn load(&self, name: &str) -> Result<Option<Vec<u8>>, ClusterError> {
        self.transferred("read a file", async || {
            use object_store::GetErrorKind;
            let mut object = match within(ATTEMPT, self.files.get(name)).await? {
                Ok(object) => object,
                Err(error) if error.kind() == GetErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(one_line(error)),
            };
            let mut content = Vec::new();
            let time = time_for(object.info.size);
            let read = within(time, object.read_to_end(&mut content));
            read.await?.map_err(one_line)?;
            Ok(Some(content))
        })
    }

    /// Removes a file, if it exists. This does not use `ObjectStore::delete`, which leaves a marker
    /// for each removed file.
    ///
    /// # Errors
    /// Returns an error if the server cannot be queried.
    pub fn remove_file(&self, name: &str) -> Result<(), ClusterError> {
        self.done("remove a file", async || {
            let info = match self.files.info(name).await {
                Ok(info) => info,
                Err(error) if error.kind() == InfoErrorKind::NotFound => return Ok(()),
                Err(error) => return Err(one_line(error)),
            };
            // The content is removed first, because only the description says where the content is.
            for subject in [content_of(&info.nuid), description_of(name)] {
                let removed = self.stored.purge().filter(subject).await;
                removed.map_err(one_line)?;
            }
            Ok(())
        })
    }

    /// Removes all files whose names have this prefix.
    ///
    /// # Errors
    /// Returns an error if the server cannot be queried.
    pub fn remove_files(&self, beginning: &str) -> Result<(), ClusterError> {
        let all = format!("$O.{FILES}.M.>");
        let found = self.done("list files", async || subjects(&self.stored, &all).await)?;
        let names = found.iter().filter_map(|subject| name_of(subject));
        for name in names.filter(|name| name.starts_with(beginning)) {
            self.remove_file(&name)?;
        }
        Ok(())
    }
}

/// Returns the subject of a file's content. `nuid` is the id of the content.
fn content_of(nuid: &str) -> String {
    format!("$O.{FILES}.C.{nuid}")
}

/// Returns the subject of a file's description.
fn description_of(name: &str) -> String {
    format!("$O.{FILES}.M.{}", URL_SAFE.encode(name))
}

/// Returns the name of the file whose description has this subject, or `None` if the subject
/// contains no valid name.
fn name_of(subject: &str) -> Option<String> {
    let (_, encoded) = subject.rsplit_once('.')?;
    String::from_utf8(URL_SAFE.decode(encoded).ok()?).ok()
}

/// Returns the time limit for the transfer of this number of bytes.
fn time_for(bytes: usize) -> Duration {
    ATTEMPT + Duration::from_secs(bytes as u64 / SLOWEST)
}
