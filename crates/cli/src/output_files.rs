//! The files that a command writes. They are checked before the command begins its work, and
//! replace no file that the command reads.

use crate::refusal::Refusal;
use report::special_file;
use std::fs::File;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// Checks whether a file can be written here. For a pipe, the result keeps the pipe open for its
/// reader.
pub fn is_writable(path: &Path) -> Result<Option<File>, Refusal> {
    has_directory(path)?;
    let is_pipe = path
        .metadata()
        .is_ok_and(|there| there.file_type().is_fifo());
    let pipe = is_pipe.then(|| special_file::open(path)).transpose();
    pipe.map_err(|error| Refusal::Pipe {
        path: path.to_owned(),
        error,
    })
}

/// Checks that the directory of a file exists, and that the file itself is not a directory.
pub fn has_directory(path: &Path) -> Result<(), Refusal> {
    if path.is_dir() {
        return Err(Refusal::Directory(path.to_owned()));
    }
    let directory = match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => return Ok(()),
        Some(parent) if parent.is_dir() => return Ok(()),
        Some(parent) => parent,
        None => path,
    };
    Err(Refusal::NoDirectory(directory.to_owned()))
}

/// Checks whether a checkpoint may replace this path: only a regular file.
pub fn is_replaceable(path: &Path) -> Result<(), Refusal> {
    match path.metadata() {
        Ok(there) if !there.is_file() => Err(Refusal::NoFile(path.to_owned())),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Checks whether both paths name the same file.
pub fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        // A file that does not exist yet has no canonical path.
        _ => std::path::absolute(one).ok() == std::path::absolute(other).ok(),
    }
}

/// Checks that each output has its own file: no other output and no input has the same path.
pub fn are_distinct<'p>(
    outputs: impl IntoIterator<Item = &'p Path>,
    inputs: impl IntoIterator<Item = &'p Path>,
) -> Result<(), Refusal> {
    let mut others: Vec<&Path> = inputs.into_iter().collect();
    for output in outputs {
        if others.iter().any(|other| is_same(output, other)) {
            return Err(Refusal::NamedTwice(output.to_owned()));
        }
        others.push(output);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_takes_the_place_of_files_only() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        assert!(is_replaceable(&file).is_ok());
        std::fs::write(&file, "").unwrap();
        assert!(is_replaceable(&file).is_ok());
        assert!(is_replaceable(directory.path()).is_err());
        assert!(is_replaceable(Path::new("/dev/null")).is_err());
    }

    #[test]
    fn one_file_under_two_names_is_noticed() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        let detour = directory.path().join("./file");
        assert!(is_same(&file, &detour));
        std::fs::write(&file, "").unwrap();
        assert!(is_same(&file, &detour));
        assert!(!is_same(&file, directory.path()));
    }
}
