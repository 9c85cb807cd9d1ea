//! The progress line, on a terminal only.

use indicatif::{ProgressBar, ProgressStyle};
use report::{Progress, Snapshot, harmless};
use std::io::{self, IsTerminal};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Interval between two updates of the progress line.
const INTERVAL: Duration = Duration::from_millis(150);

/// A line on standard error that shows the progress of a search.
#[derive(Clone)]
pub struct ProgressLine {
    bar: ProgressBar,
    /// The current text, for readers other than the terminal.
    watched: Arc<Mutex<String>>,
}

impl ProgressLine {
    /// Creates a line, which is shown if standard error is a terminal and `wanted` is true.
    pub fn new(wanted: bool) -> ProgressLine {
        let bar = match wanted && io::stderr().is_terminal() {
            true => ProgressBar::new_spinner().with_style(
                ProgressStyle::with_template("{spinner} {wide_msg}")
                    .expect("the template is valid"),
            ),
            false => ProgressBar::hidden(),
        };
        ProgressLine {
            bar,
            watched: Arc::default(),
        }
    }

    /// Returns the current text, for readers that do not use standard error.
    pub fn watched(&self) -> Arc<Mutex<String>> {
        Arc::clone(&self.watched)
    }

    /// Returns the observer that updates the line.
    pub fn observer(&self) -> Progress<impl FnMut(&Snapshot) + 'static> {
        let line = self.clone();
        Progress::every(INTERVAL, move |snapshot: &Snapshot| {
            line.say(snapshot.line());
        })
    }

    /// Shows a text instead of the counts.
    pub fn say(&self, text: String) {
        let text = harmless(&text).into_owned();
        self.bar.set_message(text.clone());
        self.bar.tick();
        *self.watched.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }

    /// Removes the line.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
