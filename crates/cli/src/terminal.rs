//! Output, and the width of the terminal.

use crate::interruption;
use clap::ColorChoice;
use console::Term;
use report::{Style, harmless};
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// The interval between two checks for an interruption while a reader does not read.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// The time that a reader gets for the next part of the output after an interruption.
const STALL: Duration = Duration::from_millis(500);

/// Minimum width assumed for narrower terminals.
const NARROWEST: u16 = 40;

/// Returns the style for the standard output.
pub fn style() -> Style {
    let terminal = Term::stdout();
    let width = terminal
        .size_checked()
        .map(|(_, columns)| usize::from(columns.max(NARROWEST)));
    Style {
        width: width.unwrap_or(Style::default().width),
        colour: console::colors_enabled(),
        ..Style::default()
    }
}

/// Sets whether text is coloured: always, never, or if standard output is a terminal with colours.
pub fn choose_colours(choice: ColorChoice) {
    match choice {
        ColorChoice::Auto => {}
        ColorChoice::Always => console::set_colors_enabled(true),
        ColorChoice::Never => console::set_colors_enabled(false),
    }
}

/// Prints to standard output. If the reader has closed the pipe, it has read enough. Once a signal
/// has asked the command to end, it does not wait for a reader that does not read.
pub fn print(text: &str) -> io::Result<()> {
    let text = text.to_owned();
    let written = Arc::new(AtomicUsize::new(0));
    let (sender, receiver) = mpsc::channel();
    // If the reader does not read, this thread ends with the process.
    let writer = {
        let written = Arc::clone(&written);
        move || sender.send(write(&text, &written))
    };
    thread::Builder::new().spawn(writer)?;
    let mut last = (0, Instant::now());
    loop {
        match receiver.recv_timeout(CHECK_INTERVAL) {
            Ok(Err(error)) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            Ok(result) => return result,
            Err(RecvTimeoutError::Disconnected) => return Err(io::ErrorKind::Other.into()),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let now = written.load(Relaxed);
        if now != last.0 || !interruption::is_requested() {
            last = (now, Instant::now());
        } else if last.1.elapsed() > STALL {
            let why = "the process that reads the output has stopped reading";
            return Err(io::Error::new(io::ErrorKind::TimedOut, why));
        }
    }
}

/// Writes to standard output, and counts the bytes that have been written.
fn write(text: &str, written: &AtomicUsize) -> io::Result<()> {
    /// The size of a part in bytes. Pipes have at least this size.
    const PART: usize = 4096;
    let mut output = io::stdout().lock();
    for part in text.as_bytes().chunks(PART) {
        output.write_all(part)?;
        output.flush()?;
        written.fetch_add(part.len(), Relaxed);
    }
    Ok(())
}

/// Prints one line on standard error.
pub fn complain(text: &str) {
    let line: Vec<&str> = text.split_whitespace().collect();
    // If this fails, there is no way left to report it.
    let _ = writeln!(
        io::stderr().lock(),
        "mazurka: {}",
        harmless(&line.join(" "))
    );
}
