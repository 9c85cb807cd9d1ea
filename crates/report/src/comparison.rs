//! A table as in papers: the cost of each algorithm for one program, next to published numbers.

use crate::layout::{Ink, Style};
use crate::outcome::{Report, Verdict};
use crate::quantity::count;
use explore::Algorithm;
use serde::{Deserialize, Serialize};

/// The cost of each algorithm for one program.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Comparison {
    /// The program with its size.
    pub program: String,
    /// The number of its traces, if known.
    pub traces: Option<u64>,
    /// A formula for the number of traces as a function of the size, for human readers.
    pub closed_form: Option<String>,
    /// One row per algorithm.
    pub measured: Vec<Measured>,
    /// Published numbers.
    pub published: Vec<Published>,
}

/// The cost of one algorithm.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Measured {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The verdict, which is bounded if the algorithm did not finish in time.
    pub verdict: Verdict,
    /// Complete executions.
    pub executions: u64,
    /// Executions that ended at an assumption, at a bound, or in a spin loop that a write by
    /// another thread could end.
    pub halted: u64,
    /// Executions that were cut because they were redundant.
    pub cut: u64,
    /// Additional runs for comparing states.
    pub probes: u64,
    /// The events of all executions.
    pub events: u64,
    /// Wall-clock time in seconds.
    pub seconds: f64,
    /// Peak memory of a process that did nothing else.
    pub peak_rss_bytes: u64,
}

/// The cost that a tool or a paper reports. `None` stands for an unknown number.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Published {
    /// The source of the numbers: a tool or a paper.
    pub source: String,
    /// Executions, including cut executions.
    pub executions: Option<u64>,
    /// CPU time in seconds.
    pub seconds: Option<f64>,
    /// Peak memory in units of 1,000,000 bytes.
    pub megabytes: Option<f64>,
}

impl From<&Report> for Measured {
    fn from(report: &Report) -> Measured {
        Measured {
            algorithm: report.algorithm,
            verdict: report.verdict,
            executions: report.executions,
            halted: report.halted,
            cut: report.blocked,
            probes: report.probes,
            events: report.events,
            seconds: report.elapsed_s,
            peak_rss_bytes: report.peak_rss_bytes,
        }
    }
}

/// The number of columns of the table.
const COLUMNS: usize = 9;

/// The column that is omitted if no algorithm compares states.
const PROBES: usize = 5;

const HEADINGS: [&str; COLUMNS] = [
    "algorithm",
    "verdict",
    "executions",
    "halted",
    "cut",
    "probes",
    "events",
    "seconds",
    "MB",
];

impl Comparison {
    /// Renders the table.
    pub fn text(&self, style: Style) -> String {
        let rows: Vec<[String; COLUMNS]> = self
            .measured
            .iter()
            .map(measured_row)
            .chain(self.published.iter().map(published_row))
            .collect();
        let compares_states = self.measured.iter().any(|measured| measured.probes > 0);
        let widths: Vec<Option<usize>> = (0..COLUMNS)
            .map(|column| {
                let cells = rows.iter().map(|row| row[column].chars().count());
                let width = cells.chain([HEADINGS[column].len()]).max();
                width.filter(|_| column != PROBES || compares_states)
            })
            .collect();
        let mut text = format!("{}\n\n", style.paint(Ink::Bold, &self.title()));
        let mut push = |ink: Ink, cells: &[String; COLUMNS]| {
            text.push_str(style.paint(ink, line(cells, &widths).trim_end()).as_str());
            text.push('\n');
        };
        push(Ink::Bold, &HEADINGS.map(str::to_owned));
        for (row, measured) in rows.iter().zip(&self.measured) {
            let ink = match measured.verdict {
                Verdict::Verified => Ink::Plain,
                Verdict::Bug => Ink::Bad,
                Verdict::Bounded => Ink::Faint,
            };
            push(ink, row);
        }
        let published = &rows[self.measured.len()..];
        if !published.is_empty() {
            push(Ink::Plain, &HEADINGS.map(|_| String::new()));
            let mut heading = HEADINGS.map(|_| String::new());
            heading[0] = "published".to_owned();
            push(Ink::Bold, &heading);
        }
        for row in published {
            push(Ink::Plain, row);
        }
        text
    }

    fn title(&self) -> String {
        let traces = self
            .traces
            .map(|traces| format!("{} traces", count(traces)));
        let known: Vec<String> = traces.into_iter().chain(self.closed_form.clone()).collect();
        if known.is_empty() {
            return self.program.clone();
        }
        format!("{}: {}", self.program, known.join(" = "))
    }
}

fn measured_row(measured: &Measured) -> [String; COLUMNS] {
    let verdict = match measured.verdict {
        Verdict::Verified => "verified",
        Verdict::Bug => "bug",
        Verdict::Bounded => "not done",
    };
    [
        measured.algorithm.to_string(),
        verdict.to_owned(),
        count(measured.executions),
        count(measured.halted),
        count(measured.cut),
        count(measured.probes),
        count(measured.events),
        format!("{:.3}", measured.seconds),
        format!("{:.1}", measured.peak_rss_bytes as f64 / 1e6),
    ]
}

fn published_row(published: &Published) -> [String; COLUMNS] {
    [
        published.source.clone(),
        String::new(),
        published.executions.map(count).unwrap_or_default(),
        String::new(),
        String::new(),
        String::new(),
        String::new(),
        published
            .seconds
            .map(|seconds| seconds.to_string())
            .unwrap_or_default(),
        published
            .megabytes
            .map(|megabytes| megabytes.to_string())
            .unwrap_or_default(),
    ]
}

/// Aligns words to the left and numbers to the right. Columns without a width are omitted.
fn line(cells: &[String; COLUMNS], widths: &[Option<usize>]) -> String {
    let mut line = String::new();
    for (column, (cell, &width)) in cells.iter().zip(widths).enumerate() {
        match (column, width) {
            (_, None) => {}
            (0 | 1, Some(width)) => line.push_str(&format!("{cell:<width$}  ")),
            (_, Some(width)) => line.push_str(&format!("{cell:>width$}  ")),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn algorithms_are_shown_with_published_numbers() {
        let measured = |algorithm, verdict, executions, cut| Measured {
            algorithm,
            verdict,
            executions,
            halted: 0,
            cut,
            probes: 0,
            events: executions * 64,
            seconds: executions as f64 / 1e6,
            peak_rss_bytes: 9_000_000,
        };
        let comparison = Comparison {
            program: "mutex:3,4".to_owned(),
            traces: Some(34_650),
            closed_form: Some("(TN)!/(N!)^T".to_owned()),
            measured: vec![
                measured(Algorithm::Exhaustive, Verdict::Bounded, 1_200_000, 0),
                measured(Algorithm::Classic, Verdict::Verified, 34_650, 977),
                measured(Algorithm::Parsimonious, Verdict::Verified, 34_650, 0),
            ],
            published: vec![Published {
                source: "GenMC --sc".to_owned(),
                executions: Some(34_650),
                seconds: Some(2.66),
                megabytes: Some(93.0),
            }],
        };
        insta::assert_snapshot!(comparison.text(Style::default()));
    }

    #[test]
    fn the_column_of_probes_is_there_where_states_are_compared() {
        let measured = |algorithm, executions, cut, probes| Measured {
            algorithm,
            verdict: Verdict::Verified,
            executions,
            halted: 0,
            cut,
            probes,
            events: executions * 18,
            seconds: 0.01,
            peak_rss_bytes: 9_000_000,
        };
        let comparison = Comparison {
            program: "bounded-buffer:9".to_owned(),
            traces: Some(48_620),
            closed_form: None,
            measured: vec![
                measured(Algorithm::Source, 48_620, 0, 0),
                measured(Algorithm::ContextSensitive, 512, 1_024, 8_683),
            ],
            published: Vec::new(),
        };
        insta::assert_snapshot!(comparison.text(Style::default()));
    }
}
