//! Findings that a user has turned off: whole kinds, or findings at certain places.

use crate::FailureKind;
use crate::layout::{Ink, Style, wrap};
use crate::outcome::Report;
use crate::quantity::counted;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The number of suppressed findings that the text shows.
const SHOWN: usize = 5;

/// A kind of finding that the user has turned off, everywhere or at the places that match a
/// pattern.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Suppression {
    kind: FailureKind,
    /// A pattern as in suppression files of the thread sanitizer: part of a function, file or
    /// variable. `*` stands for any text, `^` for the beginning and `$` for the end.
    pattern: String,
}

/// A finding that a suppression covers.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Suppressed {
    /// The kind of finding.
    pub kind: FailureKind,
    /// The place, as `file:line:column`, if known.
    pub location: Option<String>,
}

/// Names that the thread sanitizer uses for kinds.
const ALIASES: [(&str, FailureKind); 3] = [
    ("race", FailureKind::DataRace),
    ("race_top", FailureKind::DataRace),
    ("mutex", FailureKind::Misuse),
];

impl Suppression {
    /// Turns off all findings of a kind: `leak`, `exit-status`.
    ///
    /// ```
    /// use report::{FailureKind, Suppression};
    /// let leaks = Suppression::of_kind("leak").unwrap();
    /// assert!(leaks.covers(FailureKind::Leak, &["queue.c:7:3"]));
    /// assert!(Suppression::of_kind("unsupported").is_err());
    /// ```
    ///
    /// # Errors
    /// Returns an error if no kind has this name.
    pub fn of_kind(name: &str) -> Result<Suppression, String> {
        let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
        let kind = alias.map(|(_, kind)| *kind).or_else(|| {
            let name = serde_json::Value::String(name.replace('-', "_"));
            serde_json::from_value(name).ok()
        });
        match kind {
            // An operation that cannot be checked is not a finding.
            None | Some(FailureKind::Unsupported) => Err(format!(
                "no kind of finding is called {name}; the kinds are race, deadlock, stuck, assertion, crash, leak, exit-status, misuse, …"
            )),
            Some(kind) => Ok(Suppression {
                kind,
                pattern: String::new(),
            }),
        }
    }

    /// Parses a suppression file. Each line is a suppression, like `race:queue_push` or
    /// `leak:list.c`, or a comment that begins with `#`.
    ///
    /// ```
    /// use report::{FailureKind, Suppression};
    /// assert_eq!(Suppression::read("exit_status:main").unwrap()[0].to_string(), "exit-status:main");
    /// let all = Suppression::read("# known\nrace:^push*node$\n\nleak:list.c\n").unwrap();
    /// assert!(all[0].covers(FailureKind::DataRace, &["queue.c:7", "push_a_node"]));
    /// assert!(!all[0].covers(FailureKind::DataRace, &["queue.c:7", "do_push_node"]));
    /// assert!(!all[0].covers(FailureKind::Leak, &["push_a_node"]));
    /// assert!(all[1].covers(FailureKind::Leak, &["src/list.c:3:1"]));
    /// assert!(Suppression::read("race\n").unwrap_err().starts_with("line 1: "));
    /// ```
    ///
    /// # Errors
    /// Returns an error if a line has another form.
    pub fn read(text: &str) -> Result<Vec<Suppression>, String> {
        let lines = text.lines().map(str::trim).enumerate();
        let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let read = lines.map(|(index, line)| {
            let suppression = match line.split_once(':') {
                Some((kind, pattern)) => {
                    Suppression::of_kind(kind).map(|suppression| Suppression {
                        pattern: pattern.to_owned(),
                        ..suppression
                    })
                }
                None => Err("a suppression is a kind and a place: race:queue_push".to_owned()),
            };
            suppression.map_err(|problem| format!("line {}: {problem}", index + 1))
        });
        read.collect()
    }

    /// Checks whether the suppression covers a finding with these functions, places and names of
    /// variables.
    pub fn covers(&self, kind: FailureKind, texts: &[&str]) -> bool {
        self.kind == kind && texts.iter().any(|text| matches(&self.pattern, text))
    }
}

impl fmt::Display for Suppression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match ALIASES.iter().find(|(_, kind)| *kind == self.kind) {
            Some((alias, _)) => (*alias).to_owned(),
            None => serde_json::to_value(self.kind)
                .map(|name| name.as_str().unwrap_or_default().replace('_', "-"))
                .map_err(|_| fmt::Error)?,
        };
        match self.pattern.as_str() {
            "" => f.write_str(&name),
            pattern => write!(f, "{name}:{pattern}"),
        }
    }
}

impl fmt::Display for Suppressed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name())?;
        match &self.location {
            Some(location) => write!(f, " at {location}"),
            None => Ok(()),
        }
    }
}

impl Report {
    /// Lists the suppressions, for the headline.
    pub(crate) fn turned_off(&self) -> Option<String> {
        let all: Vec<String> = self.suppressions.iter().map(ToString::to_string).collect();
        let (shown, rest) = all.split_at(all.len().min(SHOWN));
        let more = match rest.len() {
            0 => String::new(),
            rest => format!(" and {rest} more"),
        };
        (!all.is_empty()).then(|| format!("{}{more}", shown.join(", ")))
    }

    /// Lists the suppressed findings.
    pub(crate) fn suppressed(&self, style: Style) -> Vec<String> {
        let suppressions = self.suppressed.iter();
        let mut lines: Vec<String> = suppressions
            .take(SHOWN)
            .map(|finding| format!("suppressed: {finding}"))
            .collect();
        if let Some(more @ 1..) = self.suppressed.len().checked_sub(SHOWN) {
            lines.push(format!(
                "suppressed: {}",
                counted(more as u64, "more finding")
            ));
        }
        let lines = lines.iter();
        lines
            .flat_map(|line| wrap(line, style.width.saturating_sub(2)))
            .map(|line| style.paint(Ink::Mark, &format!("  {line}")))
            .collect()
    }
}

fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, at_start) = match pattern.strip_prefix('^') {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let (pattern, at_end) = match pattern.strip_suffix('$') {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let pieces: Vec<&str> = pattern.split('*').collect();
    let mut rest = text;
    for (index, piece) in pieces.iter().enumerate() {
        let is_last = index + 1 == pieces.len();
        let after = match (index == 0 && at_start, is_last && at_end) {
            (true, true) => (rest == *piece).then_some(""),
            (true, false) => rest.strip_prefix(piece),
            (false, true) => rest.ends_with(piece).then_some(""),
            (false, false) => rest.find(piece).map(|at| &rest[at + piece.len()..]),
        };
        match after {
            Some(after) => rest = after,
            None => return false,
        }
    }
    true
}
