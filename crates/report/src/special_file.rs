//! Writing to pipes and devices without waiting for ever for a process that reads them.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// How long a reader may take for the next part.
const STALL: Duration = Duration::from_millis(500);
/// Between two tries.
const LOOK: Duration = Duration::from_millis(5);

/// Opens a pipe or a device for writing, if a process reads the pipe.
///
/// # Errors
/// If no process does, or the system refuses.
pub fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true);
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

/// Writes all of it, unless the reader stops reading.
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
                    let why = "the process that reads this pipe takes nothing more";
                    return Err(io::Error::new(ErrorKind::TimedOut, why));
                }
                thread::sleep(LOOK);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
