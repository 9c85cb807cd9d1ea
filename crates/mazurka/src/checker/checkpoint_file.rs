//! The file of a checkpoint: `MAGIC`, the checksum of the payload, the payload.
//!
//! Each state is written to a new file that replaces the old one, so that the path always holds a
//! complete state. No file stays open between two writes: an open file would change the numbers of
//! the descriptors that the program under test gets, and the program could close it.

use report::Replacement;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

/// The last character is the version of the format and of the payload. Every change to either
/// requires the next character.
pub(super) const MAGIC: [u8; 8] = *b"MZK-CHKU";
/// The message for a checkpoint with another format.
pub(super) const OTHER_VERSION: &str = "it was written by another version";

/// The maximum size of a file that is read, in bytes. No search has a larger state.
const SIZE: u64 = 1 << 32;

/// Writes a state. It replaces the previous state or an empty file. Any other existing file is left
/// unchanged, and an error is returned.
pub(super) fn write(path: &Path, payload: &[u8]) -> io::Result<()> {
    refuse_foreign(path)?;
    let (replacement, mut file) = Replacement::of(path)?;
    file.write_all(&MAGIC)?;
    file.write_all(&checksum(payload).to_le_bytes())?;
    file.write_all(payload)?;
    replacement.publish()
}

/// Reads the state.
pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let no_checkpoint = || {
        let why = "it is not a checkpoint, or it is damaged";
        io::Error::new(io::ErrorKind::InvalidData, why)
    };
    let mut file = open_regular(path)?;
    if file.metadata()?.len() > SIZE {
        return Err(no_checkpoint());
    }
    let mut content = vec![0; MAGIC.len()];
    file.read_exact(&mut content).map_err(|_| no_checkpoint())?;
    if content != MAGIC {
        return Err(match is_checkpoint(&content) {
            true => io::Error::new(io::ErrorKind::InvalidData, OTHER_VERSION),
            false => no_checkpoint(),
        });
    }
    content.clear();
    file.read_to_end(&mut content)?;
    payload(&content)
        .map(<[u8]>::to_vec)
        .ok_or_else(no_checkpoint)
}

/// Returns the payload after a checksum, if it is intact.
fn payload(content: &[u8]) -> Option<&[u8]> {
    let (sum, payload) = content.split_first_chunk()?;
    (u64::from_le_bytes(*sum) == checksum(payload)).then_some(payload)
}

/// Computes FNV-1a over words of eight bytes.
fn checksum(payload: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut mix = |word: u64| {
        hash = (hash ^ word).wrapping_mul(0x0100_0000_01b3);
        hash ^= hash >> 29;
    };
    mix(payload.len() as u64);
    let mut words = payload.chunks_exact(8);
    for word in &mut words {
        mix(u64::from_le_bytes(
            word.try_into().expect("a chunk has eight bytes"),
        ));
    }
    words
        .remainder()
        .iter()
        .for_each(|&byte| mix(u64::from(byte)));
    hash
}

/// Opens a regular file. Rejects directories, devices and pipes, which may have no end.
fn open_regular(path: &Path) -> io::Result<File> {
    if !fs::metadata(path)?.is_file() {
        let why = "it is not a regular file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    File::open(path)
}

/// Rejects an existing file that is neither empty nor a checkpoint.
fn refuse_foreign(path: &Path) -> io::Result<()> {
    let mut start = Vec::new();
    match open_regular(path) {
        Ok(file) => file.take(MAGIC.len() as u64).read_to_end(&mut start)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if start.is_empty() || is_checkpoint(&start) {
        return Ok(());
    }
    let why = format!(
        "{} is not a checkpoint and is left unchanged",
        path.display()
    );
    Err(io::Error::new(io::ErrorKind::AlreadyExists, why))
}

/// Checks whether a file that begins like this is a checkpoint of any version.
fn is_checkpoint(start: &[u8]) -> bool {
    let (_, family) = MAGIC.split_last().expect("the constant is not empty");
    start.len() == MAGIC.len() && start.starts_with(family)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn path(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("mazurka-checkpoint-{}-{name}", std::process::id()))
    }

    #[test]
    fn the_last_state_is_read_back() {
        let path = path("last");
        for length in [5, 0, 7, 100_000, 3] {
            write(&path, &vec![length as u8; length]).unwrap();
            assert_eq!(read(&path).unwrap(), vec![length as u8; length]);
        }
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_changed_or_truncated_state_is_refused() {
        let path = path("damaged");
        write(&path, b"three").unwrap();
        let whole = fs::read(&path).unwrap();
        for at in MAGIC.len()..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            fs::write(&path, changed).unwrap();
            assert!(read(&path).is_err(), "{at}");
            fs::write(&path, &whole[..at]).unwrap();
            assert!(read(&path).is_err(), "{at}");
        }
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_file_that_is_no_checkpoint_is_left_as_it_is() {
        let foreign = path("foreign");
        fs::write(&foreign, "a letter").unwrap();
        let refused = write(&foreign, b"state");
        let error = refused.unwrap_err().to_string();
        assert!(error.contains("foreign is not a checkpoint"), "{error}");
        assert_eq!(fs::read(&foreign).unwrap(), b"a letter");
        fs::remove_file(foreign).unwrap();
    }

    #[test]
    fn an_empty_file_and_a_checkpoint_are_replaced() {
        let path = path("own");
        fs::write(&path, "").unwrap();
        for state in [b"first", b"other"] {
            write(&path, state).unwrap();
            assert_eq!(read(&path).unwrap(), state);
        }
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_checkpoint_of_an_older_version_is_not_read_but_replaced() {
        let path = path("older");
        write(&path, b"state").unwrap();
        let mut content = fs::read(&path).unwrap();
        content[MAGIC.len() - 1] = b'1';
        fs::write(&path, content).unwrap();
        assert_eq!(read(&path).unwrap_err().to_string(), OTHER_VERSION);
        write(&path, b"other").unwrap();
        assert_eq!(read(&path).unwrap(), b"other");
        fs::remove_file(path).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_path_that_is_no_regular_file_is_neither_read_nor_replaced() {
        for path in ["/dev/zero", "/"].map(Path::new) {
            let error = read(path).unwrap_err().to_string();
            assert!(error.contains("not a regular file"), "{error}");
            let error = refuse_foreign(path).unwrap_err().to_string();
            assert!(error.contains("not a regular file"), "{error}");
        }
    }

    #[test]
    fn a_huge_file_is_not_read_to_its_end() {
        let path = path("huge");
        for start in [b"".as_slice(), &MAGIC] {
            fs::write(&path, start).unwrap();
            // A sparse file of a terabyte, which does not fit in memory.
            let file = File::options().write(true).open(&path).unwrap();
            file.set_len(1 << 40).unwrap();
            assert!(read(&path).is_err());
        }
        fs::remove_file(path).unwrap();
    }
}
