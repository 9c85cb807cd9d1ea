//! Stores the embedded library in the user's cache, as
//! `~/.cache/mazurka/DIGEST/libmazurka_intercept.so`. Programs built with `mazurka cc` keep using
//! this file, so each version has its own folder and is never replaced with another version.

use super::{RUNTIME_LIBRARY, RuntimeLibraryError, holds};
use crate::compiler::Environment;
use std::fs::{self, DirBuilder, Metadata};
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Permission bits that let others write.
const OTHERS_WRITE: u32 = 0o022;

/// Returns the path of a file with this content, and stores the file if it is missing.
pub(super) fn stored(
    content: &[u8],
    environment: Environment<'_>,
) -> Result<PathBuf, RuntimeLibraryError> {
    let ours = root(environment)
        .ok_or(RuntimeLibraryError::NoCache)?
        .join("mazurka");
    let mut digest = DefaultHasher::new();
    digest.write(content);
    let folder = ours.join(format!("{:016x}", digest.finish()));
    let file = folder.join(RUNTIME_LIBRARY);
    for folder in [&ours, &folder] {
        let store = |error| RuntimeLibraryError::Store {
            folder: folder.clone(),
            error,
        };
        create(folder).map_err(store)?;
        let found = fs::symlink_metadata(folder).map_err(store)?;
        if !found.is_dir() || !is_ours(&found) {
            return Err(RuntimeLibraryError::Shared(folder.clone()));
        }
    }
    let is_there = fs::symlink_metadata(&file)
        .is_ok_and(|found| found.is_file() && is_ours(&found) && holds(&file, content));
    if !is_there {
        write(&folder, &file, content)
            .map_err(|error| RuntimeLibraryError::Store { folder, error })?;
    }
    Ok(file)
}

/// Returns the cache folder that the XDG specification prescribes.
fn root(environment: Environment<'_>) -> Option<PathBuf> {
    let absolute = |name| {
        environment(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))
}

fn create(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn is_ours(found: &Metadata) -> bool {
    found.uid() == rustix::process::geteuid().as_raw() && found.mode() & OTHERS_WRITE == 0
}

/// Replaces the file atomically. A concurrent command would write the same content.
fn write(folder: &Path, file: &Path, content: &[u8]) -> io::Result<()> {
    let mut new = NamedTempFile::new_in(folder)?;
    new.write_all(content)?;
    new.persist(file)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn store(root: &Path, content: &[u8]) -> Result<PathBuf, RuntimeLibraryError> {
        stored(content, &|name| {
            (name == "XDG_CACHE_HOME").then(|| OsString::from(root))
        })
    }

    #[test]
    fn each_content_has_a_file_that_stays() {
        let root = tempfile::tempdir().unwrap();
        let first = store(root.path(), b"first").unwrap();
        let second = store(root.path(), b"second").unwrap();
        assert_ne!(first, second);
        let inode = |path: &Path| fs::metadata(path).unwrap().ino();
        let before = inode(&first);
        assert_eq!(store(root.path(), b"first").unwrap(), first);
        assert_eq!(inode(&first), before);
        let mode = fs::metadata(root.path().join("mazurka")).unwrap().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn what_was_altered_or_planted_is_replaced() {
        let root = tempfile::tempdir().unwrap();
        let file = store(root.path(), b"right").unwrap();
        fs::write(&file, b"wrong").unwrap();
        assert_eq!(store(root.path(), b"right").unwrap(), file);
        assert_eq!(fs::read(&file).unwrap(), b"right");
        let elsewhere = root.path().join("elsewhere");
        fs::write(&elsewhere, b"right").unwrap();
        fs::remove_file(&file).unwrap();
        symlink(&elsewhere, &file).unwrap();
        store(root.path(), b"right").unwrap();
        assert!(fs::symlink_metadata(&file).unwrap().is_file());
    }

    #[test]
    fn a_folder_that_others_may_write_to_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let ours = root.path().join("mazurka");
        fs::create_dir(&ours).unwrap();
        fs::set_permissions(&ours, fs::Permissions::from_mode(0o777)).unwrap();
        let refused = store(root.path(), b"content").unwrap_err();
        assert!(
            matches!(refused, RuntimeLibraryError::Shared(_)),
            "{refused}"
        );
        fs::remove_dir(&ours).unwrap();
        symlink("/tmp", &ours).unwrap();
        let refused = store(root.path(), b"content").unwrap_err();
        assert!(
            matches!(refused, RuntimeLibraryError::Shared(_)),
            "{refused}"
        );
    }
}
