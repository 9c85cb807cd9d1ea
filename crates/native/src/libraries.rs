//! The libraries that are loaded with a program, as the dynamic linker finds them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Queries the dynamic linker for the files, without running the program. The result is empty if
/// the query fails.
///
/// ```
/// let libraries = mazurka_native::libraries("/bin/sh".as_ref());
/// assert!(libraries.iter().any(|library| library.to_string_lossy().contains("libc.so")));
/// ```
pub fn libraries(program: &Path) -> Vec<PathBuf> {
    let output = Command::new(program)
        .env("LD_TRACE_LOADED_OBJECTS", "1")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let Ok(output) = output else {
        return Vec::new();
    };
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().filter_map(path).collect()
}

/// Parses a line like `libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f…)`.
fn path(line: &str) -> Option<PathBuf> {
    let (_, found) = line.split_once(" => ")?;
    let (path, _) = found.rsplit_once(" (")?;
    Some(PathBuf::from(path))
}
