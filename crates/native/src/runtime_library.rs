//! Locates the runtime library, with which programs under check are linked. A library that is
//! installed beside the command is used from there. Otherwise the library that the command embeds
//! is copied to the user's cache and used from there.

mod cache;

use crate::compiler::Environment;
use cache::stored;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The file name of the library.
pub const RUNTIME_LIBRARY: &str = "libmazurka_intercept.so";

/// The environment variable that holds its path.
const VARIABLE: &str = "MAZURKA_RUNTIME";

/// The folders to search, relative to the folder of the command.
const PLACES: [&str; 3] = [".", "deps", "../lib/mazurka"];

/// The library with which programs under check are linked.
#[derive(Clone, Debug)]
pub struct RuntimeLibrary {
    /// The absolute path, which ends in [`RUNTIME_LIBRARY`].
    path: PathBuf,
}

/// The reason why the library is not available.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeLibraryError {
    /// The command was built without the library, and the library is not in any of the usual
    /// places.
    #[error(
        "{RUNTIME_LIBRARY} is missing: this command was built without it; put it into {} or ../lib/mazurka beside the command, or set {VARIABLE} to its path",
        .0.display()
    )]
    Missing(PathBuf),
    /// Neither `XDG_CACHE_HOME` nor `HOME` is set.
    #[error(
        "there is no folder for {RUNTIME_LIBRARY}: set HOME or XDG_CACHE_HOME to a folder, or {VARIABLE} to the path of the library"
    )]
    NoCache,
    /// Another user could put a different library there.
    #[error("{}: other users own this folder or can write to it, so {RUNTIME_LIBRARY} is not used from there; remove it, or set XDG_CACHE_HOME to another folder", .0.display())]
    Shared(PathBuf),
    /// The library cannot be written.
    #[error("{}: {RUNTIME_LIBRARY} cannot be stored there: {error}; set XDG_CACHE_HOME to a folder that can be written, or {VARIABLE} to the path of the library", .folder.display())]
    Store {
        /// The folder to write to.
        folder: PathBuf,
        /// The error that the system reports.
        error: io::Error,
    },
    /// The environment variable does not name the library.
    #[error("{}: {VARIABLE} names this path, but {RUNTIME_LIBRARY} is not there; set {VARIABLE} to the path of the library, or unset {VARIABLE}", .0.display())]
    Other(PathBuf),
}

impl RuntimeLibrary {
    /// Uses the path in `MAZURKA_RUNTIME` if it is set. Otherwise searches near `command`, the path
    /// of the running command. If this finds no library, stores the embedded library. A library
    /// near the command that differs from the embedded library belongs to another build and is not
    /// used.
    ///
    /// ```
    /// use mazurka_native::RuntimeLibrary;
    /// let missing = RuntimeLibrary::find("/nowhere/mazurka".as_ref(), None, &|_| None).unwrap_err();
    /// assert!(missing.to_string().contains("MAZURKA_RUNTIME"));
    /// ```
    ///
    /// # Errors
    /// Returns an error if the library is not found and cannot be stored.
    pub fn find(
        command: &Path,
        embedded: Option<&[u8]>,
        environment: Environment<'_>,
    ) -> Result<RuntimeLibrary, RuntimeLibraryError> {
        if let Some(named) = environment(VARIABLE).filter(|named| !named.is_empty()) {
            let named = PathBuf::from(named);
            let inside = named.join(RUNTIME_LIBRARY);
            return RuntimeLibrary::at(&inside)
                .or_else(|| RuntimeLibrary::at(&named))
                .ok_or(RuntimeLibraryError::Other(named));
        }
        let folder = command.parent().unwrap_or(Path::new("."));
        let mut installed = PLACES
            .iter()
            .filter_map(|place| RuntimeLibrary::at(&folder.join(place).join(RUNTIME_LIBRARY)));
        let Some(embedded) = embedded else {
            let missing = || RuntimeLibraryError::Missing(folder.to_owned());
            return installed.next().ok_or_else(missing);
        };
        match installed.find(|library| holds(&library.path, embedded)) {
            Some(library) => Ok(library),
            None => Ok(RuntimeLibrary {
                path: stored(embedded, environment)?,
            }),
        }
    }

    /// Returns its absolute path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the folder that contains it.
    pub fn folder(&self) -> &Path {
        self.path.parent().expect("the path of a file has a parent")
    }

    fn at(path: &Path) -> Option<RuntimeLibrary> {
        let is_library = path.is_file() && path.file_name() == Some(RUNTIME_LIBRARY.as_ref());
        // The file may be a link to a file of another name, but programs need the library by this
        // name.
        let folder = path.parent().filter(|_| is_library)?.canonicalize().ok()?;
        Some(RuntimeLibrary {
            path: folder.join(RUNTIME_LIBRARY),
        })
    }
}

/// Checks whether a file has this content.
fn holds(path: &Path, content: &[u8]) -> bool {
    let has_length = fs::metadata(path).is_ok_and(|found| found.len() == content.len() as u64);
    has_length && fs::read(path).is_ok_and(|found| found == content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    #[test]
    fn it_is_found_next_to_the_command_in_deps_and_in_lib() {
        for place in ["bin", "bin/deps", "lib/mazurka"] {
            let root = tempfile::tempdir().unwrap();
            let folder = root.path().join(place);
            fs::create_dir_all(root.path().join("bin")).unwrap();
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(RUNTIME_LIBRARY), "").unwrap();
            let command = root.path().join("bin/mazurka");
            let found = RuntimeLibrary::find(&command, None, &|_| None).unwrap();
            assert_eq!(found.folder(), folder.canonicalize().unwrap(), "{place}");
        }
    }

    #[test]
    fn the_environment_names_the_file_or_its_folder() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join(RUNTIME_LIBRARY);
        fs::write(&file, "").unwrap();
        for named in [root.path(), &file] {
            let environment = |_: &str| Some(OsString::from(named));
            let command = Path::new("/nowhere/mazurka");
            let found = RuntimeLibrary::find(command, None, &environment).unwrap();
            assert_eq!(found.path(), file.canonicalize().unwrap());
        }
        let environment = |_: &str| Some(OsString::from("/etc/passwd"));
        let error = RuntimeLibrary::find(Path::new("mazurka"), None, &environment).unwrap_err();
        assert!(matches!(error, RuntimeLibraryError::Other(_)), "{error}");
    }

    #[test]
    fn an_embedded_library_is_found_next_to_the_command_only_if_it_is_the_same() {
        let root = tempfile::tempdir().unwrap();
        let environment = |name: &str| (name == "HOME").then(|| OsString::from(root.path()));
        let command = root.path().join("mazurka");
        fs::write(root.path().join(RUNTIME_LIBRARY), "this build").unwrap();
        let folder = |embedded: &[u8]| {
            let found = RuntimeLibrary::find(&command, Some(embedded), &environment).unwrap();
            assert_eq!(fs::read(found.path()).unwrap(), embedded);
            found.folder().to_owned()
        };
        let here = root.path().canonicalize().unwrap();
        assert_eq!(folder(b"this build"), here);
        assert!(folder(b"that build").starts_with(here.join(".cache/mazurka")));
    }
}
