//! The parts of a program that a search has exercised.

use serde::{Deserialize, Serialize};

/// The number of lines that are listed.
const LINES: usize = 8;

/// The exercised parts of a program. Only some executions are examined: the first executions of a
/// search, then a sample.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Coverage {
    /// The number of examined executions.
    pub looked_at: u64,
    /// Races in the examined executions: pairs of events whose reversal gives another execution.
    pub races: u64,
    /// The largest number of races in one execution, over all executions.
    pub most_races: usize,
    /// The places of racing events, sorted by decreasing number of races.
    pub lines: Vec<Line>,
}

/// A place in the source whose operations race.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Line {
    /// The place, as `file:line:column`.
    pub location: String,
    /// The number of races in which an operation at the place took part.
    pub races: u64,
}

impl Coverage {
    /// Describes the racing lines in one line of text. Returns `None` if there are no racing lines.
    /// `executions` is the total number of executions.
    pub(crate) fn text(&self, executions: u64) -> Option<String> {
        let first = self.lines.first()?;
        let shown = self.lines.iter().take(LINES);
        let shown: Vec<String> = shown
            .map(|line| format!("{} ({})", line.location, line.races))
            .collect();
        debug_assert!(first.races > 0, "a listed line has raced");
        let more = match self.lines.len().saturating_sub(LINES) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let part = match self.looked_at < executions {
            true => format!(", in the {} executions that were examined", self.looked_at),
            false => String::new(),
        };
        Some(format!("races at {}{more}{part}", shown.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coverage(lines: usize, looked_at: u64) -> Coverage {
        let line = |number| Line {
            location: format!("a.rs:{number}:5"),
            races: 20 - number as u64,
        };
        Coverage {
            looked_at,
            races: 7,
            most_races: 3,
            lines: (0..lines).map(line).collect(),
        }
    }

    #[test]
    fn lines_are_reported_with_their_races() {
        assert_eq!(coverage(0, 1).text(1), None);
        let text = coverage(2, 4).text(4).unwrap();
        assert_eq!(text, "races at a.rs:0:5 (20), a.rs:1:5 (19)");
    }

    #[test]
    fn the_text_of_partial_coverage_says_so() {
        let text = coverage(10, 64).text(100).unwrap();
        assert!(
            text.ends_with("a.rs:7:5 (13) and 2 more, in the 64 executions that were examined")
        );
    }
}
