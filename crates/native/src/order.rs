//! Passes an order to its worker process, and creates unnamed files that processes share.
//!
//! An *order* says what a worker, the process in which a program is checked, must do. A *trail*
//! records the progress of the search. An *errand* is a piece of a search that a worker receives
//! later.

use crate::memory_file::memory_file;
use report::{ORDER_IN_FILE, Order, Trail};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::PathBuf;

/// The greatest length of an order in the environment. Orders with long schedules exceed it.
const LONGEST: usize = 64 * 1024;

/// Returns the text of an order for the environment, and the file that holds the order if the text
/// is too long.
pub(crate) fn written(order: &Order) -> io::Result<(OsString, Option<File>)> {
    let text =
        serde_json::to_string(order).expect("an order has no maps whose keys are not strings");
    if text.len() <= LONGEST {
        return Ok((text.into(), None));
    }
    // The worker inherits the file, so CLOEXEC is not set.
    let mut file = memory_file(c"mazurka.order", true)?;
    file.write_all(text.as_bytes())?;
    let named = format!("{ORDER_IN_FILE}/proc/self/fd/{}", file.as_raw_fd());
    Ok((named.into(), Some(file)))
}

/// Creates an unnamed file for a trail. Other processes can open the file while it is open here.
pub(crate) fn trail_file() -> io::Result<File> {
    let file = memory_file(c"mazurka.trail", false)?;
    file.set_len(Trail::BYTES)?;
    Ok(file)
}

/// Creates an unnamed file for errands.
pub(crate) fn errand_file() -> io::Result<File> {
    memory_file(c"mazurka.errand", false)
}

/// Returns a path by which other processes can open an open file, even a file without a name.
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
