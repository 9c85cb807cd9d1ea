//! Files that one command writes and another command reads: JSON with a version and a checksum.

use crate::{Replacement, special_file};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

/// A kind of stored file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kind {
    /// Its name: `schedule`.
    pub name: &'static str,
    /// The command that writes it.
    pub command: &'static str,
    /// The version of its format.
    pub version: u32,
}

/// A file that cannot be used. The message names the file, the problem and a remedy, in one line.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", path.display())]
pub struct StoredFileError {
    /// The file.
    pub path: PathBuf,
    /// The problem.
    pub problem: StoredProblem,
}

/// A problem with a stored file, and a remedy.
#[derive(Debug, thiserror::Error)]
pub enum StoredProblem {
    /// The file cannot be read.
    #[error("the {} cannot be read ({error}); give the file that `{}` wrote", kind.name, kind.command)]
    NotReadable {
        /// The expected kind.
        kind: Kind,
        /// The error that the system reports.
        error: io::Error,
    },
    /// The path leads to a directory, a device or a pipe.
    #[error("this is not a regular file; give the file that `{}` wrote", .0.command)]
    NotAFile(Kind),
    /// The file cannot be written.
    #[error("the {} cannot be written ({error}); choose another place for it", kind.name)]
    NotWritable {
        /// Its kind.
        kind: Kind,
        /// The error that the system reports.
        error: io::Error,
    },
    /// The text is of another kind.
    #[error("this is not a {} file ({reason}); give the file that `{}` wrote", kind.name, kind.command)]
    NotOfItsKind {
        /// The expected kind.
        kind: Kind,
        /// The reason why the text is not of this kind.
        reason: String,
    },
    /// The file was written by another version.
    #[error(
        "the {} has format {found}, but this version reads format {}; let `{}` write a new one",
        kind.name, kind.version, kind.command
    )]
    OtherVersion {
        /// Its kind.
        kind: Kind,
        /// Its version.
        found: u64,
    },
    /// The file contradicts itself, although its checksum is correct.
    #[error(
        "the {} contradicts itself: {what}; let `{}` write a new one",
        kind.name, kind.command
    )]
    Contradictory {
        /// Its kind.
        kind: Kind,
        /// The contradiction.
        what: &'static str,
    },
    /// The file was changed or damaged.
    #[error(
        "the {} is corrupt: its checksum does not match; let `{}` write a new one",
        .0.name, .0.command
    )]
    Corrupt(Kind),
}

/// Only the version, so that another version is recognized regardless of the other fields.
#[derive(Deserialize)]
struct Head {
    format: u64,
}

/// The content of a file, with its version and checksum.
#[derive(Serialize, Deserialize)]
struct Stored<T> {
    format: u32,
    checksum: String,
    #[serde(flatten)]
    content: T,
}

/// Reads a file.
pub(crate) fn load<T>(path: &Path, kind: Kind) -> Result<T, StoredFileError>
where
    T: Serialize + DeserializeOwned,
{
    text_of(path, kind)
        .and_then(|text| from_json(&text, kind))
        .map_err(|problem| StoredFileError {
            path: path.to_owned(),
            problem,
        })
}

/// Writes a file with its version and checksum.
pub(crate) fn save<T: Serialize>(
    path: &Path,
    kind: Kind,
    content: &T,
) -> Result<(), StoredFileError> {
    write_file(path, &to_json(kind, content)).map_err(|error| StoredFileError {
        path: path.to_owned(),
        problem: StoredProblem::NotWritable { kind, error },
    })
}

/// Writes a file. A concurrent reader of a regular file finds either the previous content or all of
/// the new content. A pipe or a device is written to.
///
/// # Errors
/// Returns an error if the file cannot be written, or if the reader of a pipe stops reading.
pub fn write_file(path: &Path, text: &str) -> io::Result<()> {
    let is_special = fs::metadata(path).is_ok_and(|file| !file.is_file());
    if is_special || special_file::is_stream(path) {
        return special_file::write(path, text.as_bytes());
    }
    let (replacement, mut file) = Replacement::of(path)?;
    file.write_all(text.as_bytes())?;
    replacement.publish()
}

/// Returns the content of a file.
pub(crate) fn to_json<T: Serialize>(kind: Kind, content: &T) -> String {
    let stored = Stored {
        format: kind.version,
        checksum: checksum_of(content),
        content,
    };
    let mut text =
        serde_json::to_string(&stored).expect("the keys of all maps in stored data are strings");
    text.push('\n');
    text
}

/// Parses the content of a file.
pub(crate) fn from_json<T>(text: &str, kind: Kind) -> Result<T, StoredProblem>
where
    T: Serialize + DeserializeOwned,
{
    let other = |error: serde_json::Error| StoredProblem::NotOfItsKind {
        kind,
        reason: error.to_string(),
    };
    let head: Head = serde_json::from_str(text).map_err(other)?;
    if head.format != u64::from(kind.version) {
        let found = head.format;
        return Err(StoredProblem::OtherVersion { kind, found });
    }
    let stored: Stored<T> = serde_json::from_str(text).map_err(other)?;
    if stored.checksum != checksum_of(&stored.content) {
        return Err(StoredProblem::Corrupt(kind));
    }
    Ok(stored.content)
}

fn checksum_of(content: &impl Serialize) -> String {
    let content =
        serde_json::to_vec(content).expect("the keys of all maps in stored data are strings");
    checksum(&content)
}

/// Returns the checksum of any content.
pub(crate) fn checksum(content: &[u8]) -> String {
    format!("{:016x}", fnv1a(content))
}

/// Reads a file, if it begins as a stored file does.
fn text_of(path: &Path, kind: Kind) -> Result<String, StoredProblem> {
    let unreadable = |error| StoredProblem::NotReadable { kind, error };
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(StoredProblem::NotAFile(kind));
    }
    let mut file = BufReader::new(File::open(path).map_err(unreadable)?);
    let start = file.fill_buf().map_err(unreadable)?;
    if !start.trim_ascii_start().starts_with(b"{") {
        let reason = "it does not begin with a brace".to_owned();
        return Err(StoredProblem::NotOfItsKind { kind, reason });
    }
    let mut text = Vec::new();
    // A text contains no zero byte. A sparse file would be read as many of them.
    file.read_until(0, &mut text).map_err(unreadable)?;
    String::from_utf8(text)
        .ok()
        .filter(|text| !text.ends_with('\0'))
        .ok_or_else(|| StoredProblem::NotOfItsKind {
            kind,
            reason: "it is not a text in UTF-8".to_owned(),
        })
}

/// Computes FNV-1a with 64 bits (Fowler, Noll, Vo).
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: Kind = Kind {
        name: "list",
        command: "count",
        version: 3,
    };

    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    struct List {
        items: Vec<u32>,
    }

    fn list() -> List {
        List {
            items: vec![1, 2, 3],
        }
    }

    fn read(text: &str) -> Result<List, StoredProblem> {
        from_json(text, KIND)
    }

    #[test]
    fn what_is_saved_is_loaded() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("list.json");
        save(&path, KIND, &list()).unwrap();
        assert_eq!(load::<List>(&path, KIND).unwrap(), list());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_corrupt_file_is_noticed() {
        let text = to_json(KIND, &list()).replace("[1,", "[7,");
        assert!(matches!(read(&text), Err(StoredProblem::Corrupt(KIND))));
    }

    #[test]
    fn another_version_is_named() {
        let problem = read(r#"{"format": 7, "whatever": []}"#).unwrap_err();
        assert!(problem.to_string().contains("format 7"), "{problem}");
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let error = load::<List>(&directory.path().join("missing"), KIND).unwrap_err();
        assert!(matches!(error.problem, StoredProblem::NotReadable { .. }));
        assert!(error.to_string().contains("missing"), "{error}");
    }

    #[test]
    fn a_path_that_is_no_regular_file_is_not_read() {
        for path in ["/dev/zero", "."] {
            let error = load::<List>(Path::new(path), KIND).unwrap_err();
            assert!(
                matches!(error.problem, StoredProblem::NotAFile(_)),
                "{error}"
            );
        }
    }

    #[test]
    fn a_file_that_begins_otherwise_is_not_read_to_its_end() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("huge");
        for start in ["", "{\"format\":3,"] {
            // A sparse file of a terabyte, which does not fit into memory.
            fs::write(&path, start).unwrap();
            let file = File::options().write(true).open(&path).unwrap();
            file.set_len(1 << 40).unwrap();
            let error = load::<List>(&path, KIND).unwrap_err();
            assert!(
                matches!(error.problem, StoredProblem::NotOfItsKind { .. }),
                "{error}"
            );
        }
    }

    #[test]
    fn each_wrong_text_is_one_line() {
        let whole = to_json(KIND, &list());
        for text in ["", "{", "[]", "nonsense", &whole[..whole.len() / 2]] {
            let problem = read(text).unwrap_err();
            assert!(
                matches!(problem, StoredProblem::NotOfItsKind { .. }),
                "{text}: {problem}"
            );
            assert!(!problem.to_string().contains('\n'), "{problem}");
        }
    }

    #[test]
    fn the_checksum_is_fnv_1a() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
