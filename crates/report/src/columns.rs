//! Renders an interleaving as text: one column per thread, with marks at the *decisive* events.
//! These are the events of the first races, of a data race, and of stale reads.
//!
//! Long executions are shortened to the rows around decisive events. If the columns do not fit,
//! each row names its thread instead.

use crate::excerpt::excerpt;
use crate::grid::{GAP, Grid, Layout, Line};
use crate::interleaving::{Interleaving, Racing, Row};
use crate::layout::{Ink, Style, length, share, wrap};
use crate::place::{file, short_place};
use crate::quantity::counted;
use std::collections::{BTreeMap, BTreeSet};

/// The number of pairs that are marked.
pub(crate) const PAIRS: usize = 3;
/// The narrowest column that is still readable.
const NARROWEST: usize = 14;
/// The number of characters of an operation's text that are shown.
const TEXT: usize = 160;

impl Interleaving {
    /// Renders the execution in lines of at most `style.width` characters.
    pub fn text(&self, style: Style) -> String {
        let shown = Shown::new(self, style);
        let mut lines = shown.table(style);
        lines.extend(shown.conflict(style));
        lines.extend(shown.unseen(style));
        lines.extend(shown.races(style));
        lines.extend(shown.ends(style));
        lines
            .iter()
            .map(|line| format!("{}\n", line.trim_end()))
            .collect()
    }
}

/// The parts of an interleaving that are shown.
pub(crate) struct Shown<'a> {
    pub(crate) interleaving: &'a Interleaving,
    /// The shown rows, sorted.
    rows: Vec<usize>,
    /// The threads of the rows, sorted.
    threads: Vec<usize>,
    /// The first few races of the interleaving, in the order of their rows. Races that decide the
    /// failure are preferred.
    pub(crate) pairs: Vec<Racing>,
    /// The rows of decisive events, sorted. The first row is named A.
    letters: Vec<usize>,
    /// Among the source files in which objects are created, the file with the most rows.
    file: Option<&'a str>,
}

impl<'a> Shown<'a> {
    fn new(interleaving: &'a Interleaving, style: Style) -> Shown<'a> {
        let mut pairs: Vec<Racing> = interleaving.races.iter().take(PAIRS).copied().collect();
        pairs.sort_by_key(|pair| (pair.first, pair.second));
        let unseen = interleaving.unseen.iter().take(PAIRS);
        let unseen = unseen.flat_map(|pair| [pair.write, pair.read]);
        let letters: BTreeSet<usize> = pairs
            .iter()
            .chain(&interleaving.conflict)
            .flat_map(|pair| [pair.first, pair.second])
            .chain(unseen)
            .collect();
        let rows = match style.all_events {
            true => (0..interleaving.rows.len()).collect(),
            false => excerpt(interleaving, &letters),
        };
        let threads: BTreeSet<usize> = rows
            .iter()
            .map(|&row| interleaving.rows[row].thread)
            .collect();
        Shown {
            interleaving,
            rows,
            threads: threads.into_iter().collect(),
            pairs,
            letters: letters.into_iter().collect(),
            file: usual_file(interleaving),
        }
    }

    /// Returns the text of an operation or a wait. Objects created in the usual file are named only
    /// by the line, and a long text is shortened.
    pub(crate) fn shortened(&self, text: &str) -> String {
        let text = match self.file {
            Some(file) => text.replace(&format!("@{file}:"), "@"),
            None => text.to_owned(),
        };
        if length(&text) <= TEXT {
            return text;
        }
        text.chars().take(TEXT - 1).chain(['…']).collect()
    }

    pub(crate) fn name(&self, thread: usize) -> &str {
        self.interleaving
            .threads
            .get(thread)
            .map_or("?", String::as_str)
    }

    pub(crate) fn row(&self, row: usize) -> &Row {
        &self.interleaving.rows[row]
    }

    pub(crate) fn letter(&self, row: usize) -> Option<char> {
        self.letters
            .iter()
            .position(|&other| other == row)
            .map(letter)
    }

    // The table.

    fn table(&self, style: Style) -> Vec<String> {
        let digits = length(&self.interleaving.rows.len().to_string());
        let places = self.rows.iter().map(|&row| length(&self.place(row))).max();
        let places = places.unwrap_or(0).max(5);
        let room = style.width.saturating_sub(digits + 5);
        let layout = self.layout(room, places);
        let headings = self.headings(layout);
        let rows: Vec<Line> = self
            .rows
            .iter()
            .map(|&row| self.line(row, layout, digits))
            .collect();
        let wanted = widest(&headings, &rows);
        let place = if layout == Layout::Below { 0 } else { places };
        let widths = share(&wanted, room.saturating_sub(place + GAP * wanted.len()));
        let grid = Grid {
            style,
            digits,
            widths,
            layout,
        };
        let mut lines = vec![grid.heading(&headings)];
        lines.extend(self.body(&grid, &rows));
        let legend = self.legend();
        for line in legend.iter().flat_map(|legend| wrap(legend, style.width)) {
            lines.push(style.paint(Ink::Faint, &line));
        }
        lines
    }

    /// Returns the layout that fits. `places` is the number of characters that locations take.
    fn layout(&self, room: usize, places: usize) -> Layout {
        let threads = self.threads.len() * (NARROWEST + GAP);
        match room {
            room if threads + places <= room => Layout::Beside,
            room if threads <= room => Layout::Below,
            _ => Layout::List,
        }
    }

    fn headings(&self, layout: Layout) -> Vec<&str> {
        match layout {
            Layout::Beside | Layout::Below => {
                let threads = self.threads.iter();
                threads.map(|&thread| self.name(thread)).collect()
            }
            Layout::List => vec!["thread", "operation"],
        }
    }

    /// Returns the rows, with the number of omitted rows between them.
    fn body(&self, grid: &Grid, rows: &[Line]) -> Vec<String> {
        let mut lines = Vec::new();
        let mut next = 0;
        let gap = |from: usize, to: usize| {
            let missing = to.saturating_sub(from) as u64;
            (missing > 0).then(|| grid.gap(&counted(missing, "more event")))
        };
        for (&row, line) in self.rows.iter().zip(rows) {
            lines.extend(gap(next, row));
            lines.extend(grid.row(line));
            next = row + 1;
        }
        lines.extend(gap(next, self.interleaving.rows.len()));
        lines
    }

    fn line(&self, row: usize, layout: Layout, digits: usize) -> Line {
        let cells = match layout {
            Layout::Beside | Layout::Below => self.cells(row),
            Layout::List => {
                let Row { thread, text, .. } = self.row(row);
                vec![self.name(*thread).to_owned(), self.shortened(text)]
            }
        };
        Line {
            gutter: self.gutter(row, digits),
            cells,
            arrow: self.arrow(row).filter(|_| layout != Layout::List),
            failed: self.row(row).failed,
            place: self.place(row),
        }
    }

    /// Returns the cells of a row: the operation is in the column of its thread.
    fn cells(&self, row: usize) -> Vec<String> {
        let Row { thread, text, .. } = self.row(row);
        let mut cells = vec![String::new(); self.threads.len()];
        let column = self
            .threads
            .binary_search(thread)
            .expect("shown rows have shown threads");
        cells[column] = self.shortened(text);
        if let Some(send) = self.row(row).sent_in {
            cells[column].push_str(&format!(" (from {})", send + 1));
        }
        cells
    }

    /// Returns the shown columns of the sender and the receiver of a message. Returns `None` if the
    /// row has no message, or if the two are not in different shown columns.
    fn arrow(&self, row: usize) -> Option<(usize, usize)> {
        let Row {
            thread, sent_to, ..
        } = self.row(row);
        let from = self.threads.binary_search(thread).ok()?;
        let to = self.threads.binary_search(&(*sent_to)?).ok()?;
        (from != to).then_some((from, to))
    }

    /// Explains the notation `@12`, if it occurs.
    fn legend(&self) -> Option<String> {
        let file = self.file?;
        let short = format!("@{file}:");
        let mut shown = self.rows.iter().map(|&row| &self.row(row).text);
        shown
            .any(|text| text.contains(&short))
            .then(|| format!("(@ and a number: the line of {file} where the object is created)"))
    }

    /// Returns the number and the marks of a row.
    fn gutter(&self, row: usize, digits: usize) -> String {
        let letter = self.letter(row).unwrap_or(' ');
        let failed = if self.row(row).failed { '!' } else { ' ' };
        format!("{:>digits$} {letter}{failed} ", row + 1)
    }

    /// Returns the location of a row in its shortest form. Some events have no line in the program,
    /// such as a wake or the drop of a guard. They are shown with the previous line of their
    /// thread, as events after that line.
    fn place(&self, row: usize) -> String {
        let shown = self.row(row);
        if let Some(location) = &shown.location {
            return short_place(location);
        }
        let mut before = self.interleaving.rows[..row].iter().rev();
        let before = before.find(|other| other.thread == shown.thread && other.location.is_some());
        match before.and_then(|other| other.location.as_deref()) {
            Some(location) => format!("after {}", short_place(location)),
            None => String::new(),
        }
    }
}

fn letter(index: usize) -> char {
    char::from(b'A' + u8::try_from(index % 26).expect("a remainder of 26 fits"))
}

/// Returns the width of the longest text in each column.
fn widest(headings: &[&str], rows: &[Line]) -> Vec<usize> {
    let mut widest: Vec<usize> = headings.iter().map(|heading| length(heading)).collect();
    for row in rows {
        for (column, cell) in row.cells.iter().enumerate() {
            widest[column] = widest[column].max(length(cell));
        }
    }
    widest
}

/// Returns the file with the most rows, among the files in which objects are created. This excludes
/// the files of libraries in which guards are dropped and iterators advance.
fn usual_file(interleaving: &Interleaving) -> Option<&str> {
    let rows = &interleaving.rows;
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for location in rows.iter().filter_map(|row| row.location.as_deref()) {
        *counts.entry(file(location)).or_default() += 1;
    }
    counts.retain(|file, _| {
        let object = format!("@{file}:");
        rows.iter().any(|row| row.text.contains(&object))
    });
    let (file, _) = counts.into_iter().max_by_key(|&(_, rows)| rows)?;
    Some(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Style;

    fn event(thread: usize, text: &str, line: u32) -> Row {
        Row {
            thread,
            text: text.to_owned(),
            location: Some(format!("corpus/lost-update/program.rs:{line}:5")),
            failed: false,
            ..Row::default()
        }
    }

    fn lost_update() -> Interleaving {
        let mut rows = vec![
            event(0, "spawn thread 1", 10),
            event(0, "spawn thread 2", 14),
            event(1, "AtomicU32@program.rs:9.load() -> 0", 11),
            event(2, "AtomicU32@program.rs:9.load() -> 0", 15),
            event(1, "AtomicU32@program.rs:9.store(1)", 12),
            event(1, "end", 13),
            event(2, "AtomicU32@program.rs:9.store(1)", 16),
            event(2, "end", 17),
            event(0, "join thread 1", 18),
            event(0, "join thread 2", 19),
            event(0, "AtomicU32@program.rs:9.load() -> 1", 20),
        ];
        rows[10].failed = true;
        Interleaving {
            threads: ["main", "thread 1", "thread 2"].map(str::to_owned).to_vec(),
            rows,
            races: vec![
                Racing {
                    first: 3,
                    second: 4,
                },
                Racing {
                    first: 2,
                    second: 6,
                },
            ],
            unseen: Vec::new(),
            conflict: None,
            objects: Vec::new(),
            ends: vec!["panicked".to_owned(), String::new(), String::new()],
        }
    }

    /// Every thread reads x a few times and then waits for its left neighbour.
    fn many(threads: usize, rounds: usize) -> Interleaving {
        let mut rows = Vec::new();
        for round in 0..rounds {
            rows.extend(
                (0..threads).map(|thread| event(thread, &format!("x.load() -> {round}"), 7)),
            );
        }
        Interleaving {
            threads: (0..threads)
                .map(|thread| format!("worker {thread}"))
                .collect(),
            races: vec![Racing {
                first: 17,
                second: rows.len() / 2,
            }],
            unseen: Vec::new(),
            conflict: None,
            objects: Vec::new(),
            ends: (0..threads)
                .map(|thread| format!("waits for worker {}", (thread + 1) % threads))
                .collect(),
            rows,
        }
    }

    fn widest(text: &str) -> usize {
        text.lines().map(length).max().unwrap_or(0)
    }

    #[test]
    fn a_data_race_is_shown_before_what_led_to_it() {
        let mut interleaving = lost_update();
        interleaving.conflict = Some(Racing {
            first: 4,
            second: 10,
        });
        insta::assert_snapshot!(interleaving.text(Style::default()));
    }

    #[test]
    fn the_first_pairs_are_shown_in_the_order_of_the_rows() {
        let mut interleaving = lost_update();
        let pair = |(first, second)| Racing { first, second };
        interleaving.races = [(4, 6), (3, 4), (2, 3), (0, 1), (1, 2)].map(pair).to_vec();
        insta::assert_snapshot!(interleaving.text(Style::default()));
    }

    #[test]
    fn each_thread_has_a_column() {
        insta::assert_snapshot!(lost_update().text(Style::default()));
    }

    #[test]
    fn messages_are_arrows_between_columns() {
        let rows = [(0, "send(1) to c", 2), (2, "send(2) to b", 1)].map(|(from, text, to)| Row {
            sent_to: Some(to),
            ..event(from, text, 3)
        });
        let mut interleaving = Interleaving {
            threads: ["a", "b", "c"].map(str::to_owned).to_vec(),
            rows: rows.to_vec(),
            ..Interleaving::default()
        };
        interleaving.rows.push(Row {
            sent_in: Some(1),
            ..event(1, "receive() -> 2", 9)
        });
        let json = serde_json::to_value(&interleaving).unwrap();
        assert_eq!(
            (&json["rows"][0]["sent_to"], &json["rows"][2]["sent_in"]),
            (&2.into(), &1.into())
        );
        insta::assert_snapshot!(interleaving.text(Style::default()));
    }

    #[test]
    fn an_arrow_to_the_left_passes_columns_without_a_gap() {
        let interleaving = Interleaving {
            threads: ["a", "b", "c", "d"].map(str::to_owned).to_vec(),
            rows: vec![
                event(1, "text", 1),
                event(2, "text", 2),
                Row {
                    sent_to: Some(0),
                    ..event(3, "send(1) to a", 3)
                },
                event(0, "receive() -> 1", 4),
            ],
            ..Interleaving::default()
        };
        insta::assert_snapshot!(interleaving.text(Style::default()));
    }

    #[test]
    fn a_file_that_makes_no_objects_does_not_lengthen_their_names() {
        let mut interleaving = lost_update();
        for row in interleaving.rows.iter_mut().skip(2) {
            row.location = Some("library/iterator.rs:1:1".to_owned());
        }
        let text = interleaving.text(Style::default());
        assert!(text.contains(" AtomicU32@9.store(1)"), "{text}");
    }

    #[test]
    fn a_narrow_terminal_has_the_location_below() {
        let text = lost_update().text(Style {
            width: 60,
            ..Style::default()
        });
        assert!(widest(&text) <= 60);
        insta::assert_snapshot!(text);
    }

    #[test]
    fn a_very_narrow_terminal_has_a_list() {
        let text = lost_update().text(Style {
            width: 40,
            ..Style::default()
        });
        assert!(widest(&text) <= 40, "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn a_long_execution_is_shortened_to_what_matters() {
        insta::assert_snapshot!(many(3, 200).text(Style::default()));
    }

    #[test]
    fn a_hundred_threads_fit() {
        let text = many(100, 3).text(Style::default());
        assert!(widest(&text) <= 100, "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn no_width_is_too_small() {
        for width in 0..140 {
            let text = many(7, 9).text(Style {
                width,
                colour: true,
                ..Style::default()
            });
            assert!(text.contains("worker"), "{text}");
        }
    }

    #[test]
    fn an_execution_without_events_is_shown() {
        assert_eq!(
            Interleaving::default().text(Style::default()),
            "    where\n".replace("    ", "     ")
        );
    }
}
