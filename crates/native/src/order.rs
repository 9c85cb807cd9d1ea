//! How an order reaches the process that is to carry it out, and files that processes reach without a name.

use report::{ORDER_IN_FILE, Order, Trail};
use rustix::fs::{MemfdFlags, memfd_create};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::PathBuf;

/// Longer orders, those with long schedules, do not fit into an environment.
const LONGEST: usize = 64 * 1024;

/// An order as it stands in the environment, and the file that has it if it is too long.
pub(crate) fn written(order: &Order) -> io::Result<(OsString, Option<File>)> {
    let text = serde_json::to_string(order).expect("an order has no maps to serialise");
    if text.len() <= LONGEST {
        return Ok((text.into(), None));
    }
    // Inherited by the worker, so without CLOEXEC.
    let mut file = File::from(memfd_create(c"mazurka.order", MemfdFlags::empty())?);
    file.write_all(text.as_bytes())?;
    let named = format!("{ORDER_IN_FILE}/proc/self/fd/{}", file.as_raw_fd());
    Ok((named.into(), Some(file)))
}

/// A file without a name for a trail, which other processes reach as long as it is open here.
pub(crate) fn trail_file() -> io::Result<File> {
    let file = File::from(memfd_create(c"mazurka.trail", MemfdFlags::CLOEXEC)?);
    file.set_len(Trail::BYTES)?;
    Ok(file)
}

/// A file without a name for errands.
pub(crate) fn errand_file() -> io::Result<File> {
    Ok(File::from(memfd_create(
        c"mazurka.errand",
        MemfdFlags::CLOEXEC,
    )?))
}

/// A path by which processes reach an open file, also one that has lost its name.
pub fn reachable(file: &impl AsRawFd) -> PathBuf {
    let process = std::process::id();
    PathBuf::from(format!("/proc/{process}/fd/{}", file.as_raw_fd()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_of_any_length_are_read_as_they_were_written() {
        for length in [10, 2 * LONGEST] {
            let name = "x".repeat(length);
            let order = Order {
                name: name.clone(),
                ..Order::default()
            };
            let (text, file) = written(&order).unwrap();
            assert_eq!(file.is_some(), length > LONGEST);
            let text = text.into_string().unwrap();
            assert!(text.len() < LONGEST);
            assert_eq!(Order::read(&text).unwrap().name, name);
        }
    }
}
