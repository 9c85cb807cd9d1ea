//! Output, and the width of the terminal.

use clap::ColorChoice;
use console::Term;
use report::{Style, harmless};
use std::io::{self, Write};

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

/// Prints to standard output. If the reader has closed the pipe, it has read enough.
pub fn print(text: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    match output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush())
    {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
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
