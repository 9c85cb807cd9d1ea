//! Files: objects of an object store.

use crate::{ATTEMPT, Cluster, ClusterError, said, within};
use async_nats::jetstream::object_store;
use futures_util::StreamExt;
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
}

/// How long it may take to send or to get so many bytes.
fn time_for(bytes: usize) -> Duration {
    ATTEMPT + Duration::from_secs(bytes as u64 / SLOWEST)
}
