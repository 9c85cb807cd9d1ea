//! Replaces the program's standard input with a file that contains one line break. The position in
//! this file shows whether the program has read its input. Such programs are refused, because the
//! input would be missing in the next execution.

use crate::worker::refuse_now;
use std::fs::File;
use std::io::{Error, Result, Seek, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::sync::OnceLock;

/// A file that shares its position with the program's standard input.
static INPUT: OnceLock<File> = OnceLock::new();

/// Replaces the standard input with the file.
pub(crate) fn replace() -> Result<()> {
    // SAFETY: a valid name; the descriptor gets one owner.
    let mut file = unsafe {
        match libc::memfd_create(c"standard input".as_ptr(), libc::MFD_CLOEXEC) {
            ..0 => return Err(Error::last_os_error()),
            descriptor => File::from_raw_fd(descriptor),
        }
    };
    file.write_all(b"\n")?;
    file.rewind()?;
    // SAFETY: descriptors of this process.
    if unsafe { libc::dup2(file.as_raw_fd(), 0) } < 0 {
        return Err(Error::last_os_error());
    }
    INPUT.get_or_init(|| file);
    Ok(())
}

/// Ends the process with an error message if the program has read its standard input.
pub(crate) fn refuse_readers() {
    let position = INPUT.get().map(|mut input| input.stream_position());
    if let Some(Ok(1..)) = position {
        refuse_now(
            "the program reads its standard input, which a check cannot repeat; pass the input \
             with --args or in a file",
        );
    }
}
