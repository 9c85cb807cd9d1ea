//! Draws a table of threads and operations, line by line.

use crate::layout::{Ink, Style, length, pad, wrap};

/// The space between columns.
pub(crate) const GAP: usize = 2;

/// The place of the source location.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// One column per thread, and a last column for the location.
    Beside,
    /// One column per thread, with the location below the operation.
    Below,
    /// One column for all threads. Each row names its thread.
    List,
}

/// A row of the table.
pub(crate) struct Line {
    /// The number and the marks before the columns.
    pub gutter: String,
    /// The texts, one per column.
    pub cells: Vec<String>,
    /// The columns of the sender and the receiver of a message.
    pub arrow: Option<(usize, usize)>,
    pub failed: bool,
    pub place: String,
}

/// Draws the lines of a table.
pub(crate) struct Grid {
    pub style: Style,
    /// The digits of the row numbers.
    pub digits: usize,
    /// The widths of the columns.
    pub widths: Vec<usize>,
    pub layout: Layout,
}

impl Grid {
    pub fn heading(&self, headings: &[&str]) -> String {
        let mut line = " ".repeat(self.digits + 4);
        for (heading, &width) in headings.iter().zip(&self.widths) {
            let heading: String = heading.chars().take(width).collect();
            line.push_str(&pad(&heading, width + GAP));
        }
        if self.layout != Layout::Below {
            line.push_str("where");
        }
        self.style.paint(Ink::Bold, line.trim_end())
    }

    pub fn gap(&self, text: &str) -> String {
        let line = format!("{}… {text} …", " ".repeat(self.digits + 4));
        self.style.paint(Ink::Faint, &line)
    }

    pub fn row(&self, row: &Line) -> Vec<String> {
        let mut columns: Vec<Vec<String>> = row
            .cells
            .iter()
            .zip(&self.widths)
            .map(|(cell, &width)| wrap(cell, width))
            .collect();
        if self.layout == Layout::Below
            && let Some(column) = row.cells.iter().position(|cell| !cell.is_empty())
        {
            columns[column].extend(wrap(&row.place, self.widths[column]));
        }
        let height = columns.iter().map(Vec::len).max().unwrap_or(0).max(1);
        (0..height)
            .map(|index| self.line(row, &columns, index))
            .collect()
    }

    /// Returns the line with this index of a row whose cells are broken into lines.
    fn line(&self, row: &Line, columns: &[Vec<String>], index: usize) -> String {
        let (gutter_ink, ink) = match row.failed {
            true => (Ink::Bad, Ink::Bad),
            false => (Ink::Mark, Ink::Plain),
        };
        let mut line = match index {
            0 => self.style.paint(gutter_ink, &row.gutter),
            _ => " ".repeat(length(&row.gutter)),
        };
        for (number, (column, &width)) in columns.iter().zip(&self.widths).enumerate() {
            let text = column.get(index).map_or("", String::as_str);
            let cell = match row.arrow.filter(|_| index == 0) {
                Some(arrow) => drawn(arrow, number, text, width + GAP),
                None => pad(text, width + GAP),
            };
            line.push_str(&self.style.paint(ink, &cell));
        }
        if index == 0 && self.layout != Layout::Below {
            line.push_str(&self.style.paint(Ink::Faint, &row.place));
        }
        line
    }
}

/// Returns a cell of a row with a message, with its part of the arrow.
fn drawn((from, to): (usize, usize), column: usize, text: &str, width: usize) -> String {
    let dashes = |count: usize| "─".repeat(count);
    let rest = width.saturating_sub(length(text));
    match (column == from, column == to) {
        (true, _) if from < to => format!("{text} {}", dashes(rest.saturating_sub(1))),
        (_, true) if from < to => pad("▶", width),
        // The text at the start of the arrow is preceded by a space.
        (_, true) if column + 1 == from => format!("◀{} ", dashes(width.saturating_sub(2))),
        (_, true) => format!("◀{}", dashes(width.saturating_sub(1))),
        _ if to < column && column + 1 == from => format!("{} ", dashes(width.saturating_sub(1))),
        _ if from.min(to) < column && column < from.max(to) => dashes(width),
        _ => pad(text, width),
    }
}
