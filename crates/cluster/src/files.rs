//! Files: objects of an object store.

use crate::{ATTEMPT, Cluster, ClusterError, FILES, said, subjects, within};
use async_nats::jetstream::object_store;
use async_nats::jetstream::object_store::InfoErrorKind;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE;
use std::time::Duration;
use tokio::io::AsyncReadExt;

/// The slowest way to a server, in bytes in a second.
const SLOWEST: u64 = 100_000;

impl Cluster {
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

    /// Removes a file, unless it is gone. `ObjectStore::delete` would leave a marker for each.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub fn remove_file(&self, name: &str) -> Result<(), ClusterError> {
        self.done("remove a file", async || {
            let info = match self.files.info(name).await {
                Ok(info) => info,
                Err(error) if error.kind() == InfoErrorKind::NotFound => return Ok(()),
                Err(error) => return Err(said(error)),
            };
            // The content goes first: only the description says where it lies.
            for subject in [content_of(&info.nuid), description_of(name)] {
                let removed = self.stored.purge().filter(subject).await;
                removed.map_err(said)?;
            }
            Ok(())
        })
    }

    /// Removes all files whose names begin like this.
    ///
    /// # Errors
    /// If the server cannot be asked.
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

/// Where the content of a file lies.
fn content_of(nuid: &str) -> String {
    format!("$O.{FILES}.C.{nuid}")
}

/// Where the description of a file lies.
fn description_of(name: &str) -> String {
    format!("$O.{FILES}.M.{}", URL_SAFE.encode(name))
}

/// The name of the file whose description lies here.
fn name_of(subject: &str) -> Option<String> {
    let (_, encoded) = subject.rsplit_once('.')?;
    String::from_utf8(URL_SAFE.decode(encoded).ok()?).ok()
}

/// How long it may take to send or to get so many bytes.
fn time_for(bytes: usize) -> Duration {
    ATTEMPT + Duration::from_secs(bytes as u64 / SLOWEST)
}
