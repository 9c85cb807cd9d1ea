//! The content of a diagram of an execution: lanes of threads, events, and arrows between them.

use report::{Interleaving, harmless, parts};

/// The meaning of an arrow.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// A message, a call or the end of a task.
    Message,
    /// The order of the two events matters: the reversed order gives an execution that is not
    /// equivalent.
    Race,
    /// The two accesses are a data race: nothing orders them.
    DataRace,
}

/// An arrow from one row to a later row.
pub(crate) struct Arrow {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) meaning: Meaning,
}

/// Returns all arrows of the execution.
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
    let conflict = interleaving.conflict.iter().map(pairs(Meaning::DataRace));
    messages.chain(races).chain(conflict).collect()
}

/// Returns the text of an event with its place in the source, in one line.
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

/// Returns the text in one line, without control characters.
pub(crate) fn line(text: &str) -> String {
    harmless(text).replace('\n', " ")
}
