//! Where the library is that programs under check are linked with.

use crate::compiler::Environment;
use std::path::{Path, PathBuf};

/// The file name of the library.
pub const RUNTIME_LIBRARY: &str = "libmazurka_intercept.so";

/// The environment variable that says where it is.
const VARIABLE: &str = "MAZURKA_RUNTIME";

/// Where it may be, seen from the folder of the command.
const PLACES: [&str; 3] = [".", "deps", "../lib/mazurka"];

/// The library that programs under check are linked with.
#[derive(Clone, Debug)]
pub struct RuntimeLibrary {
    /// Absolute, with [`RUNTIME_LIBRARY`] as its last part.
    path: PathBuf,
}

/// Why it was not found.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeLibraryError {
    /// It is in none of the usual places.
    #[error(
        "{RUNTIME_LIBRARY} is missing: it belongs into {} or ../lib/mazurka beside the command; install it there (`cargo build --release -p mazurka-intercept` makes it), or set {VARIABLE} to its path",
        .0.display()
    )]
    Missing(PathBuf),
    /// The environment variable names something else.
    #[error("{}: {VARIABLE} names this, but it is no {RUNTIME_LIBRARY}; set it to the path of the library, or unset it", .0.display())]
    Other(PathBuf),
}

impl RuntimeLibrary {
    /// Looks where `MAZURKA_RUNTIME` says, else beside `command`, the path of the running command.
    ///
    /// ```
    /// use mazurka_native::RuntimeLibrary;
    /// let missing = RuntimeLibrary::find("/nowhere/mazurka".as_ref(), &|_| None).unwrap_err();
    /// assert!(missing.to_string().contains("MAZURKA_RUNTIME"));
    /// ```
    ///
    /// # Errors
    /// If it is not there.
    pub fn find(
        command: &Path,
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
        PLACES
            .iter()
            .find_map(|place| RuntimeLibrary::at(&folder.join(place).join(RUNTIME_LIBRARY)))
            .ok_or_else(|| RuntimeLibraryError::Missing(folder.to_owned()))
    }

    /// Its absolute path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder that it is in.
    pub fn folder(&self) -> &Path {
        self.path.parent().expect("the path of a file has a parent")
    }

    fn at(path: &Path) -> Option<RuntimeLibrary> {
        let is_library = path.is_file() && path.file_name() == Some(RUNTIME_LIBRARY.as_ref());
        // The file may be a link to one of another name; programs ask for this one.
        let folder = path.parent().filter(|_| is_library)?.canonicalize().ok()?;
        Some(RuntimeLibrary {
            path: folder.join(RUNTIME_LIBRARY),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;
    use std::fs;

    #[test]
    fn it_is_found_beside_the_command_in_deps_and_in_lib() {
        for place in ["bin", "bin/deps", "lib/mazurka"] {
            let root = tempfile::tempdir().unwrap();
            let folder = root.path().join(place);
            fs::create_dir_all(root.path().join("bin")).unwrap();
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(RUNTIME_LIBRARY), "").unwrap();
            let command = root.path().join("bin/mazurka");
            let found = RuntimeLibrary::find(&command, &|_| None).unwrap();
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
            let found = RuntimeLibrary::find(Path::new("/nowhere/mazurka"), &environment).unwrap();
            assert_eq!(found.path(), file.canonicalize().unwrap());
        }
        let environment = |_: &str| Some(OsString::from("/etc/passwd"));
        let error = RuntimeLibrary::find(Path::new("mazurka"), &environment).unwrap_err();
        assert!(matches!(error, RuntimeLibraryError::Other(_)), "{error}");
    }
}
