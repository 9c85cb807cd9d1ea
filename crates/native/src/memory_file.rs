//! Files in memory, which leave nothing behind when their process ends. Only Linux has them.

use std::ffi::CStr;
use std::fs::File;
use std::io;

/// Creates a file in memory. Children of this process inherit the file if `is_inherited` is true.
#[cfg(target_os = "linux")]
pub(crate) fn memory_file(name: &CStr, is_inherited: bool) -> io::Result<File> {
    use rustix::fs::{MemfdFlags, memfd_create};
    let flags = match is_inherited {
        true => MemfdFlags::empty(),
        false => MemfdFlags::CLOEXEC,
    };
    Ok(File::from(memfd_create(name, flags)?))
}

/// Fails: C and C++ programs are checked on Linux only.
#[cfg(not(target_os = "linux"))]
pub(crate) fn memory_file(_name: &CStr, _is_inherited: bool) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}
