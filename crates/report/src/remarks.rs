//! The remarks below the columns of an interleaving: decisive events, and the final states of
//! threads.

use crate::columns::{PAIRS, Shown};
use crate::interleaving::{Racing, Row, Unseen};
use crate::layout::{Ink, Style, length, pad, wrap};
use crate::quantity::counted;

/// The number of threads whose final state is listed.
const ENDS: usize = 16;

impl Shown<'_> {
    /// Returns the remark on the accesses of a data race.
    pub(crate) fn conflict(&self, style: Style) -> Vec<String> {
        let Some(pair) = self.interleaving.conflict else {
            return Vec::new();
        };
        let heading = "These accesses race; nothing orders them:";
        let mut lines = vec![String::new(), style.paint(Ink::Bold, heading)];
        let sentence = format!(
            "{} and {}",
            self.sentence(pair.first),
            self.sentence(pair.second)
        );
        lines.extend(self.pair(pair, "-", &sentence, style));
        lines
    }

    /// Returns the remarks on reads of old values.
    pub(crate) fn unseen(&self, style: Style) -> Vec<String> {
        let unseen = self.interleaving.unseen.iter().take(PAIRS);
        let mut lines = Vec::new();
        for &Unseen {
            write,
            read,
            through,
        } in unseen
        {
            if lines.is_empty() {
                let heading = "The memory model lets a read get an old value:";
                lines.extend([String::new(), style.paint(Ink::Bold, heading)]);
            }
            let [newer, old] = [write, read].map(|row| self.sentence(row));
            let why = through.map_or_else(String::new, |pair| {
                let [store, load] = [pair.first, pair.second].map(|row| self.sentence(row));
                format!(
                    ". {load} reads from {store}, but only an acquire load of a release store makes \
                     visible what came before the store"
                )
            });
            let pair = Racing {
                first: write,
                second: read,
            };
            let sentence = format!("{old} does not see {newer}{why}");
            lines.extend(self.pair(pair, "↛", &sentence, style));
        }
        lines
    }

    /// Returns the remarks on the pairs of events whose order matters.
    pub(crate) fn races(&self, style: Style) -> Vec<String> {
        let Some(_) = self.pairs.first() else {
            return Vec::new();
        };
        let heading = match self.pairs.len() {
            1 => "The order of two events matters; reversing it gives another execution:",
            _ => "The order of these events matters; reversing a pair gives another execution:",
        };
        let mut lines = vec![String::new()];
        lines.extend(
            wrap(heading, style.width)
                .iter()
                .map(|line| style.paint(Ink::Bold, line)),
        );
        for &pair in &self.pairs {
            let [first, second] = [pair.first, pair.second].map(|row| self.sentence(row));
            let sentence = format!("{first} came before {second}");
            lines.extend(self.pair(pair, "→", &sentence, style));
        }
        let remaining = self.interleaving.races.len() - self.pairs.len();
        if remaining > 0 {
            let more = format!("  and {}", counted(remaining as u64, "more pair"));
            lines.push(style.paint(Ink::Faint, &more));
        }
        lines
    }

    /// Describes a row: its operation and its thread.
    fn sentence(&self, row: usize) -> String {
        let Row { thread, text, .. } = self.row(row);
        format!("{} ({})", self.shortened(text), self.name(*thread))
    }

    /// Returns the letters of a pair, followed by its sentence.
    fn pair(&self, pair: Racing, sign: &str, sentence: &str, style: Style) -> Vec<String> {
        let [first, second] = [pair.first, pair.second].map(|row| self.letter(row).unwrap_or('?'));
        let lines = wrap(sentence, style.width.saturating_sub(9));
        let marks = std::iter::once(format!("{first} {sign} {second}"))
            .chain(std::iter::repeat(String::new()));
        lines
            .iter()
            .zip(marks)
            .map(|(line, mark)| format!("  {}  {line}", style.paint(Ink::Mark, &pad(&mark, 5))))
            .collect()
    }

    /// Returns the final states of the threads.
    pub(crate) fn ends(&self, style: Style) -> Vec<String> {
        let ends: Vec<(usize, &String)> = self
            .interleaving
            .ends
            .iter()
            .enumerate()
            .filter(|(_, end)| !end.is_empty())
            .collect();
        let Some(_) = ends.first() else {
            return Vec::new();
        };
        let mut lines = vec![String::new(), style.paint(Ink::Bold, "At the end:")];
        let names = ends
            .iter()
            .take(ENDS)
            .map(|&(thread, _)| length(self.name(thread)))
            .max();
        let names = names.unwrap_or(0);
        for &(thread, end) in ends.iter().take(ENDS) {
            for (index, line) in wrap(&self.shortened(end), style.width.saturating_sub(names + 4))
                .iter()
                .enumerate()
            {
                let name = if index == 0 { self.name(thread) } else { "" };
                lines.push(format!("  {}  {line}", pad(name, names)));
            }
        }
        if ends.len() > ENDS {
            let more = format!(
                "  and {} more",
                counted((ends.len() - ENDS) as u64, "thread")
            );
            lines.push(style.paint(Ink::Faint, &more));
        }
        lines
    }
}
