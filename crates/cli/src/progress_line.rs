//! The progress line, on a terminal only.

use indicatif::{ProgressBar, ProgressStyle};
use report::{Progress, Snapshot, harmless};
use std::io::{self, IsTerminal};
use std::time::Duration;

/// Between two looks of the progress line.
const INTERVAL: Duration = Duration::from_millis(150);

/// A line on the standard error that tells how far a search is.
#[derive(Clone)]
pub struct ProgressLine(ProgressBar);

impl ProgressLine {
    /// Shown if the standard error is a terminal and `wanted`.
    pub fn new(wanted: bool) -> ProgressLine {
        if !wanted || !io::stderr().is_terminal() {
            return ProgressLine(ProgressBar::hidden());
        }
        let style =
            ProgressStyle::with_template("{spinner} {wide_msg}").expect("the template is right");
        ProgressLine(ProgressBar::new_spinner().with_style(style))
    }

    /// The observer that keeps the line up to date.
    pub fn observer(&self) -> Progress<impl FnMut(&Snapshot) + 'static> {
        let bar = self.0.clone();
        Progress::every(INTERVAL, move |snapshot: &Snapshot| {
            bar.set_message(snapshot.line());
            bar.tick();
        })
    }

    /// Shows a text instead of the counts.
    pub fn say(&self, text: String) {
        self.0.set_message(harmless(&text).into_owned());
        self.0.tick();
    }

    /// Takes the line away.
    pub fn clear(&self) {
        self.0.finish_and_clear();
    }
}
