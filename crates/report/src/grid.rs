//! A table of threads and operations, line by line.

use crate::layout::{Ink, Style, length, pad, wrap};

/// Space between columns.
pub(crate) const GAP: usize = 2;

/// Where the source location goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// One column per thread, and a last one for the location.
    Beside,
    /// One column per thread, the location below the operation.
    Below,
    /// One column for all threads, each row names its thread.
    List,
}

/// A row of the table.
pub(crate) struct Line {
    pub gutter: String,
    /// One per column.
    pub cells: Vec<String>,
    /// A message goes from one column to another.
    pub arrow: Option<(usize, usize)>,
    pub failed: bool,
    pub place: String,
}

/// Draws lines of a table.
pub(crate) struct Grid {
    pub style: Style,
    /// Of the row numbers.
    pub digits: usize,
    /// Of the columns.
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

    /// The line with this index of a row whose cells are broken into lines.
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

/// A column of the row of a message, with the part of the arrow that lies in it.
fn drawn((from, to): (usize, usize), column: usize, text: &str, width: usize) -> String {
    let dashes = |count: usize| "─".repeat(count);
    let rest = width.saturating_sub(length(text));
    match (column == from, column == to) {
        (true, _) if from < to => format!("{text} {}", dashes(rest.saturating_sub(1))),
        (_, true) if from < to => pad("▶", width),
        // Before the text where the arrow begins there is a space.
        (_, true) if column + 1 == from => format!("◀{} ", dashes(width.saturating_sub(2))),
        (_, true) => format!("◀{}", dashes(width.saturating_sub(1))),
        _ if to < column && column + 1 == from => format!("{} ", dashes(width.saturating_sub(1))),
        _ if from.min(to) < column && column < from.max(to) => dashes(width),
        _ => pad(text, width),
    }
}
