//! A file that replaces another file when it is complete.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process;

/// The number of names that are tried for the new file.
const NAMES: u32 = 1000;

/// A new file next to the place that it will take. The file is removed unless it is published.
///
/// The file is created under an unused name, so no other user can plant a link there. The file gets
/// the mode of the file that it replaces. A link at its place is replaced, not followed.
#[derive(Debug)]
pub struct Replacement {
    place: PathBuf,
    /// `None` after publication.
    temporary: Option<PathBuf>,
}

impl Replacement {
    /// Creates an empty file that can be written.
    ///
    /// # Errors
    /// Returns an error if the file cannot be created.
    pub fn of(place: &Path) -> io::Result<(Replacement, File)> {
        let mode = fs::symlink_metadata(place)
            .ok()
            .filter(fs::Metadata::is_file);
        let mut number = 0;
        loop {
            let mut temporary = place.as_os_str().to_owned();
            temporary.push(format!(".{}-{number}", process::id()));
            let temporary = PathBuf::from(temporary);
            match OpenOptions::new()
                .write(true)
                .create_new(true)
                .open(&temporary)
            {
                Ok(file) => {
                    let replacement = Replacement {
                        place: place.to_owned(),
                        temporary: Some(temporary),
                    };
                    if let Some(replaced) = mode {
                        file.set_permissions(replaced.permissions())?;
                    }
                    return Ok((replacement, file));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < NAMES => {
                    number += 1
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Moves the file to its place.
    ///
    /// # Errors
    /// Returns an error if the file cannot be moved.
    pub fn publish(mut self) -> io::Result<()> {
        let temporary = self.temporary.as_ref().expect("it is published once");
        fs::rename(temporary, &self.place)?;
        self.temporary = None;
        Ok(())
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // Nothing can be done if the file cannot be removed.
            let _ = fs::remove_file(temporary);
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn replace(place: &Path, content: &str) {
        let (replacement, mut file) = Replacement::of(place).unwrap();
        file.write_all(content.as_bytes()).unwrap();
        replacement.publish().unwrap();
    }

    #[test]
    fn a_file_keeps_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("file");
        replace(&place, "first");
        for mode in [0o600, 0o640, 0o666] {
            fs::set_permissions(&place, fs::Permissions::from_mode(mode)).unwrap();
            replace(&place, "second");
            let found = fs::metadata(&place).unwrap().permissions().mode();
            assert_eq!(found & 0o777, mode);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn links_are_replaced_and_planted_ones_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let [place, victim] = ["file", "victim"].map(|name| folder.path().join(name));
        fs::write(&victim, "untouched").unwrap();
        symlink(&victim, &place).unwrap();
        for number in 0..2 {
            let planted = format!("file.{}-{number}", process::id());
            symlink(&victim, folder.path().join(planted)).unwrap();
        }
        replace(&place, "content");
        assert_eq!(fs::read_to_string(&victim).unwrap(), "untouched");
        assert_eq!(fs::read_to_string(&place).unwrap(), "content");
        assert!(fs::symlink_metadata(&place).unwrap().is_file());
    }

    #[test]
    fn an_unpublished_file_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        drop(Replacement::of(&folder.path().join("file")).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
