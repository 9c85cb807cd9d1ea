//! A temporary folder that is removed when its [`Scratch`] is dropped. If the process is killed
//! first, the next process that creates a scratch folder removes the folder that was left.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The prefix of the name, which no other folder has.
const PREFIX: &str = ".mazurka-scratch-";

/// The folder.
#[derive(Debug)]
pub(crate) struct Scratch {
    folder: TempDir,
    /// The opened folder, locked while its owner lives.
    _lock: File,
}

impl Scratch {
    /// Creates a scratch folder among the system's temporary files, and removes abandoned scratch
    /// folders.
    pub(crate) fn new() -> io::Result<Scratch> {
        Scratch::within(&std::env::temp_dir())
    }

    fn within(parent: &Path) -> io::Result<Scratch> {
        for (folder, _lock) in abandoned(parent) {
            // Another process may have removed the folder.
            let _ = fs::remove_dir_all(folder);
        }
        loop {
            let folder = tempfile::Builder::new()
                .prefix(PREFIX)
                .permissions(Permissions::from_mode(0o700))
                .tempdir_in(parent)?;
            // Until the folder is locked it looks abandoned, and another process may remove it.
            match File::open(folder.path()) {
                Ok(lock) if lock.try_lock().is_ok() && folder.path().is_dir() => {
                    return Ok(Scratch {
                        folder,
                        _lock: lock,
                    });
                }
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Returns the folders without an owner, each with its lock. While this lock is held, the process
/// that has just created the folder cannot become its owner.
fn abandoned(parent: &Path) -> impl Iterator<Item = (PathBuf, File)> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let owned = entries.filter(|entry| {
        let user = rustix::process::geteuid().as_raw();
        // Links are not followed.
        let found = entry.metadata();
        let is_own_folder = found.is_ok_and(|found| found.is_dir() && found.uid() == user);
        is_own_folder && entry.file_name().to_string_lossy().starts_with(PREFIX)
    });
    owned.filter_map(|entry| {
        let lock = File::open(entry.path()).ok()?;
        lock.try_lock().ok()?;
        Some((entry.path(), lock))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_abandoned_folders_are_removed() {
        let parent = tempfile::tempdir().unwrap();
        let left = parent.path().join(format!("{PREFIX}left"));
        fs::create_dir(&left).unwrap();
        fs::write(left.join("program"), "").unwrap();
        let foreign = parent.path().join("mazurka-foreign");
        fs::create_dir(&foreign).unwrap();
        let owned = Scratch::within(parent.path()).unwrap();
        assert!(!left.exists() && foreign.exists());
        let other = Scratch::within(parent.path()).unwrap();
        assert!(owned.path().exists() && other.path() != owned.path());
        drop(owned);
        drop(other);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
    }

    #[test]
    fn concurrent_processes_do_not_remove_scratch_folders_of_each_other() {
        let parent = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let scratch = Scratch::within(parent.path()).unwrap();
                        fs::write(scratch.path().join("program"), "").unwrap();
                        assert!(scratch.path().join("program").exists());
                    }
                });
            }
        });
    }
}
