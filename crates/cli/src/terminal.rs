//! What is printed, and how wide the terminal is.

use clap::ColorChoice;
use console::Term;
use report::{Style, harmless};
use std::io::{self, Write};

/// Narrower terminals are written to as if they had this width.
const NARROWEST: u16 = 40;

/// The style that suits the standard output.
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

/// From here on texts are coloured always, never, or where the standard output is a terminal that wants it.
pub fn choose_colours(choice: ColorChoice) {
    match choice {
        ColorChoice::Auto => {}
        ColorChoice::Always => console::set_colors_enabled(true),
        ColorChoice::Never => console::set_colors_enabled(false),
    }
}

/// Prints to the standard output. A reader that has gone away has seen enough.
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

/// One line on the standard error.
pub fn complain(text: &str) {
    let line: Vec<&str> = text.split_whitespace().collect();
    // Nobody is left to be told if this fails.
    let _ = writeln!(
        io::stderr().lock(),
        "mazurka: {}",
        harmless(&line.join(" "))
    );
}
