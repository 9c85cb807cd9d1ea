//! A file with two slots, written in turn: whenever the process is killed, one of them is intact.
//!
//! Layout: `MAGIC`, capacity of a slot; then the slots. A slot: sequence number, length, checksum
//! of both and of the payload, payload. If a state outgrows the slots, a larger file is written and
//! renamed over the old file.

use report::Replacement;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The last character is the version of format and payload. Every change needs the next character.
pub(super) const MAGIC: [u8; 8] = *b"MZK-CHKP";
/// The message for a checkpoint with another format.
pub(crate) const OTHER_VERSION: &str = "it was written by another version";
const FILE_HEADER: u64 = 16;
const SLOT_HEADER: usize = 24;

/// A file that always holds the last state or the one before.
pub(crate) struct Slots {
    path: PathBuf,
    file: File,
    /// Bytes of a slot, including its header.
    capacity: u64,
    sequence: u64,
    /// Reused: header and payload as written.
    buffer: Vec<u8>,
}

impl Slots {
    /// Creates the file with this first state.
    pub fn create(path: &Path, payload: &[u8]) -> io::Result<Slots> {
        refuse_foreign(path)?;
        let capacity = capacity_for(payload.len());
        let (replacement, file) = fresh_file(path, capacity)?;
        let mut slots = Slots {
            path: path.to_owned(),
            file,
            capacity,
            sequence: 0,
            buffer: Vec::new(),
        };
        slots.write_slot(payload)?;
        replacement.publish()?;
        Ok(slots)
    }

    /// Replaces the older of the two states.
    pub fn write(&mut self, payload: &[u8]) -> io::Result<()> {
        if (SLOT_HEADER + payload.len()) as u64 <= self.capacity {
            return self.write_slot(payload);
        }
        self.capacity = capacity_for(payload.len());
        let (replacement, file) = fresh_file(&self.path, self.capacity)?;
        self.file = file;
        self.write_slot(payload)?;
        replacement.publish()
    }

    fn write_slot(&mut self, payload: &[u8]) -> io::Result<()> {
        self.sequence += 1;
        self.buffer.clear();
        self.buffer.extend_from_slice(&self.sequence.to_le_bytes());
        self.buffer
            .extend_from_slice(&(payload.len() as u64).to_le_bytes());
        self.buffer
            .extend_from_slice(&checksum(self.sequence, payload).to_le_bytes());
        self.buffer.extend_from_slice(payload);
        self.file.seek(SeekFrom::Start(
            FILE_HEADER + self.sequence % 2 * self.capacity,
        ))?;
        self.file.write_all(&self.buffer)
    }
}

/// Reads the newest intact state of the file.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let no_checkpoint = || {
        let why = "it is not a checkpoint, or it is damaged";
        io::Error::new(io::ErrorKind::InvalidData, why)
    };
    let mut file = open_regular(path)?;
    let mut content = vec![0; MAGIC.len()];
    file.read_exact(&mut content).map_err(|_| no_checkpoint())?;
    if content != MAGIC {
        return Err(match is_checkpoint(&content) {
            true => io::Error::new(io::ErrorKind::InvalidData, OTHER_VERSION),
            false => no_checkpoint(),
        });
    }
    file.read_to_end(&mut content)?;
    newest(&content).ok_or_else(no_checkpoint)
}

/// Opens a regular file. Rejects directories, devices and pipes, which may have no end.
fn open_regular(path: &Path) -> io::Result<File> {
    if !fs::metadata(path)?.is_file() {
        let why = "it is not a regular file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    File::open(path)
}

fn newest(content: &[u8]) -> Option<Vec<u8>> {
    let slots = content.strip_prefix(&MAGIC)?;
    let (capacity, slots) = number(slots)?;
    let second = slots.get(usize::try_from(capacity).ok()?..).unwrap_or(&[]);
    let (_, payload) = [slots, second]
        .into_iter()
        .filter_map(whole)
        .max_by_key(|&(sequence, _)| sequence)?;
    Some(payload.to_vec())
}

/// Returns the sequence number and payload of the slot that begins here, if it is intact.
fn whole(slot: &[u8]) -> Option<(u64, &[u8])> {
    let (sequence, rest) = number(slot)?;
    let (length, rest) = number(rest)?;
    let (sum, rest) = number(rest)?;
    let payload = rest.get(..usize::try_from(length).ok()?)?;
    (sequence > 0 && sum == checksum(sequence, payload)).then_some((sequence, payload))
}

fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((u64::from_le_bytes(*number), rest))
}

/// Computes FNV-1a over words of eight bytes.
fn checksum(sequence: u64, payload: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut mix = |word: u64| {
        hash = (hash ^ word).wrapping_mul(0x0100_0000_01b3);
        hash ^= hash >> 29;
    };
    mix(sequence);
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

fn capacity_for(payload: usize) -> u64 {
    (SLOT_HEADER + payload).next_power_of_two().max(4096) as u64 * 2
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

fn fresh_file(path: &Path, capacity: u64) -> io::Result<(Replacement, File)> {
    let (replacement, mut file) = Replacement::of(path)?;
    file.write_all(&MAGIC)?;
    file.write_all(&capacity.to_le_bytes())?;
    Ok((replacement, file))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("mazurka-slots-{}-{name}", std::process::id()))
    }

    #[test]
    fn the_last_state_is_read_back() {
        let path = path("last");
        let mut slots = Slots::create(&path, b"first").unwrap();
        assert_eq!(read(&path).unwrap(), b"first");
        for length in [0, 7, 100_000, 3] {
            slots.write(&vec![length as u8; length]).unwrap();
            assert_eq!(read(&path).unwrap(), vec![length as u8; length]);
        }
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_torn_slot_leaves_the_state_before_it() {
        let path = path("torn");
        let mut slots = Slots::create(&path, b"one").unwrap();
        slots.write(b"two").unwrap();
        slots.write(b"three").unwrap();
        let mut content = fs::read(&path).unwrap();
        let last = FILE_HEADER as usize + slots.capacity as usize + SLOT_HEADER;
        assert_eq!(&content[last..last + 5], b"three");
        content[last + 2] ^= 1;
        assert_eq!(newest(&content).unwrap(), b"two");
        content.truncate(last);
        assert_eq!(newest(&content).unwrap(), b"two");
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_file_that_is_no_checkpoint_is_left_as_it_is() {
        let foreign = path("foreign");
        fs::write(&foreign, "a letter").unwrap();
        let refused = Slots::create(&foreign, b"state").map(|_| ());
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
            Slots::create(&path, state).unwrap();
            assert_eq!(read(&path).unwrap(), state);
        }
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_checkpoint_of_an_older_version_is_not_read_but_replaced() {
        let path = path("older");
        Slots::create(&path, b"state").unwrap();
        let mut content = fs::read(&path).unwrap();
        content[MAGIC.len() - 1] = b'1';
        fs::write(&path, content).unwrap();
        assert_eq!(read(&path).unwrap_err().to_string(), OTHER_VERSION);
        Slots::create(&path, b"other").unwrap();
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
    fn a_file_that_begins_otherwise_is_not_read_to_its_end() {
        let path = path("huge");
        // A sparse file of a terabyte, which does not fit in memory.
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        assert!(read(&path).is_err());
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn anything_else_is_refused() {
        assert!(newest(b"").is_none());
        assert!(newest(b"MZK-CHK1").is_none());
        assert!(newest(&[0; 4096]).is_none());
        let mut huge = MAGIC.to_vec();
        huge.extend_from_slice(&[0xff; 64]);
        assert!(newest(&huge).is_none());
    }
}
