//! Writes to pipes and devices without waiting forever for a reader.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// The time that a reader may pause before it reads the next part.
const STALL: Duration = Duration::from_millis(500);
/// The time between two attempts.
const RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// Opens a device, or a pipe that a process reads, for writing.
///
/// # Errors
/// Returns an error if no process reads the pipe, or if the system refuses.
pub fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    // What was written to the file before is kept.
    options.append(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        /// O_NONBLOCK.
        const NONBLOCK: i32 = if cfg!(target_os = "linux") { 0o4000 } else { 4 };
        options.custom_flags(NONBLOCK);
    }
    /// ENXIO.
    const NO_READER: i32 = 6;
    options
        .open(path)
        .map_err(|error| match error.raw_os_error() {
            Some(NO_READER) => io::Error::new(ErrorKind::BrokenPipe, "no process reads this pipe"),
            _ => error,
        })
}

/// Checks whether the path is a name that the system gives to an open file, like `/dev/stdout`.
/// Such a name is a link that a new file must not replace.
pub(crate) fn is_stream(path: &Path) -> bool {
    let is_link = path
        .symlink_metadata()
        .is_ok_and(|there| there.is_symlink());
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    is_link
        && folder.is_some_and(|folder| folder == Path::new("/dev") || folder.starts_with("/proc"))
}

/// Writes all bytes, unless the reader stops reading.
pub(crate) fn write(path: &Path, mut bytes: &[u8]) -> io::Result<()> {
    let mut file = open(path)?;
    let mut since = Instant::now();
    while !bytes.is_empty() {
        match file.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => {
                bytes = &bytes[written..];
                since = Instant::now();
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                if since.elapsed() > STALL {
                    let why = "the process that reads this pipe has stopped reading";
                    return Err(io::Error::new(ErrorKind::TimedOut, why));
                }
                thread::sleep(RETRY_INTERVAL);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
