//! Memory shared with another process.

use std::io;
use std::path::Path;
use std::sync::atomic::AtomicU64;

/// Maps a file into memory as 64-bit words, for as long as the process lives. Other processes see
/// writes at once, even after this process has died.
///
/// # Errors
/// Returns an error if the file cannot be opened or mapped.
#[cfg(target_os = "linux")]
pub fn shared_words(path: &Path) -> io::Result<&'static [AtomicU64]> {
    use std::fs::File;
    use std::os::fd::AsRawFd;

    let file = File::options().read(true).write(true).open(path)?;
    let bytes = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
    let words = bytes / size_of::<AtomicU64>();
    if words == 0 {
        return Ok(&[]);
    }
    // SAFETY: a new mapping at an address that the system chooses.
    let start = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            0,
        )
    };
    if start == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the mapping has this many words, is never removed, and is only accessed atomically.
    Ok(unsafe { std::slice::from_raw_parts(start.cast(), words) })
}

/// Returns an error, because this is only available on Linux.
///
/// # Errors
/// Always returns an error.
#[cfg(not(target_os = "linux"))]
pub fn shared_words(_path: &Path) -> io::Result<&'static [AtomicU64]> {
    Err(io::ErrorKind::Unsupported.into())
}
