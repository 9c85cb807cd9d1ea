//! Verdicts on litmus tests, as a table: one row per test.

use crate::weak::MODELS;

/// The verdicts on a test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// The name of the test.
    pub name: String,
    /// Whether the models of [`MODELS`] allow what the test asks for.
    pub is_allowed: [bool; MODELS.len()],
    /// The source of the verdicts.
    pub source: String,
}

/// The error for a text that is not a table of verdicts.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {0}: expected a name, {n} times allowed or forbidden, and a source", n = MODELS.len())]
pub struct NotATable(usize);

impl Row {
    /// Reads a table. Empty lines and lines that begin with `#` are comments.
    pub fn all(text: &str) -> Result<Vec<Row>, NotATable> {
        let lines = text.lines().enumerate();
        let rows = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        rows.map(|(number, line)| Row::read(line).ok_or(NotATable(number + 1)))
            .collect()
    }

    fn read(line: &str) -> Option<Row> {
        let mut words = line.split_whitespace();
        let name = words.next()?.to_owned();
        let mut is_allowed = [false; MODELS.len()];
        for own in &mut is_allowed {
            *own = match words.next()? {
                "allowed" => true,
                "forbidden" => false,
                _ => return None,
            };
        }
        let source = words.collect::<Vec<&str>>().join(" ");
        (!source.is_empty()).then_some(Row {
            name,
            is_allowed,
            source,
        })
    }
}
