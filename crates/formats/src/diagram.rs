//! What a diagram of an execution shows: lanes of threads, events, and the arrows between them.

use report::{Interleaving, harmless, parts};

/// What an arrow means.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// A message, a call or the end of a task.
    Message,
    /// Turned round, the order of these two is another trace.
    Race,
    /// Nothing orders these two accesses.
    Conflict,
}

/// An arrow from one row to a later one.
pub(crate) struct Arrow {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) meaning: Meaning,
}

/// All arrows of the execution.
pub(crate) fn arrows(interleaving: &Interleaving) -> Vec<Arrow> {
    let rows = interleaving.rows.iter().enumerate();
    let messages = rows.filter_map(|(to, row)| {
        let from = row.sent_in?;
        Some(Arrow {
            from,
            to,
            meaning: Meaning::Message,
        })
    });
    let pairs = |meaning| {
        move |pair: &report::Racing| Arrow {
            from: pair.first,
            to: pair.second,
            meaning,
        }
    };
    let races = interleaving.races.iter().map(pairs(Meaning::Race));
    let conflict = interleaving.conflict.iter().map(pairs(Meaning::Conflict));
    messages.chain(races).chain(conflict).collect()
}

/// The text of an event, in one line, with its place in the source.
pub(crate) fn label(interleaving: &Interleaving, row: usize) -> String {
    let row = &interleaving.rows[row];
    let place = row.location.as_deref().map(|place| {
        let (file, line, _) = parts(place);
        let name = file.rsplit('/').next().unwrap_or(file);
        match line {
            Some(line) => format!(" ({name}:{line})"),
            None => format!(" ({name})"),
        }
    });
    line(&format!("{}{}", row.text, place.unwrap_or_default()))
}

/// The text in one line, without control characters.
pub(crate) fn line(text: &str) -> String {
    harmless(text).replace('\n', " ")
}
