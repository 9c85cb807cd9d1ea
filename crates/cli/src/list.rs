//! `mazurka list`: the programs of the corpus, with what is known of them.

use crate::arguments::{Format, ListOptions};
use crate::refusal::Refusal;
use crate::{Done, terminal};
use corpus::{Entry, Expected};
use report::quantity::count;
use report::{FailureKind, Style};
use serde::Serialize;
use std::process::ExitCode;

/// Lists the programs.
pub fn list(options: &ListOptions) -> Done {
    let programs: Vec<Listed> = corpus::all().iter().map(listed).collect();
    let text = match options.format {
        Format::Text => table(&programs, terminal::style()),
        Format::Json => {
            let json = serde_json::to_string(&programs).expect("a list has no maps to serialise");
            format!("{json}\n")
        }
    };
    terminal::print(&text).map_err(|error| Refusal::System {
        what: "print the list",
        error,
    })?;
    Ok(ExitCode::SUCCESS)
}

/// A program as it is listed.
#[derive(Serialize)]
struct Listed {
    /// With its default sizes, as `check` understands it.
    name: String,
    about: &'static str,
    /// Names of its sizes.
    sizes: Vec<&'static str>,
    /// What a search finds.
    finds: String,
    failure: Option<FailureKind>,
    /// Traces by size, if there is a formula.
    formula: Option<String>,
    counts: Vec<Count>,
}

/// The traces of a program of one size.
#[derive(Serialize)]
struct Count {
    size: Vec<u32>,
    executions: u64,
    halted: u64,
}

fn listed(entry: &'static Entry) -> Listed {
    let expectation = entry.expectation();
    Listed {
        name: entry.with_defaults().to_string(),
        about: entry.about,
        sizes: entry
            .parameters
            .iter()
            .map(|parameter| parameter.name)
            .collect(),
        finds: match (expectation.verdict, expectation.failure) {
            (Expected::Verified, _) => "verified".to_owned(),
            (Expected::Bug, Some(kind)) => kind.name().to_owned(),
            (Expected::Bug, None) => "bug".to_owned(),
        },
        failure: expectation.failure,
        formula: expectation.formula,
        counts: expectation
            .sizes
            .into_iter()
            .map(|known| Count {
                size: known.size,
                executions: known.executions,
                halted: known.halted,
            })
            .collect(),
    }
}

/// A program in two lines at most: what it is, and how many traces it has.
fn table(programs: &[Listed], style: Style) -> String {
    let names = programs
        .iter()
        .map(|program| program.name.len())
        .max()
        .unwrap_or(0);
    let finds = programs
        .iter()
        .map(|program| program.finds.len())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for program in programs {
        let Listed {
            name,
            about,
            finds: found,
            ..
        } = program;
        let line = format!("{name:<names$}  {found:<finds$}  {about}");
        text.push_str(&format!("{}\n", shortened(&line, style.width)));
        if let Some(known) = known_counts(program) {
            let line = format!("{:names$}  {known}", "");
            text.push_str(&format!("{}\n", shortened(&line, style.width)));
        }
    }
    text
}

/// `traces: (N + 3) * 2^(N - 2): 5 → 64, 10 → 3,328`, where something is known of several sizes.
fn known_counts(program: &Listed) -> Option<String> {
    if program.sizes.is_empty() || program.counts.is_empty() {
        return None;
    }
    let counts: Vec<String> = program
        .counts
        .iter()
        .map(|known| {
            let size: Vec<String> = known.size.iter().map(u32::to_string).collect();
            format!(
                "{} → {}",
                size.join(","),
                count(known.executions + known.halted)
            )
        })
        .collect();
    let formula = program
        .formula
        .as_ref()
        .map_or(String::new(), |formula| format!("{formula}: "));
    Some(format!("traces: {formula}{}", counts.join(", ")))
}

/// Not longer than the terminal is wide.
fn shortened(line: &str, width: usize) -> String {
    if line.chars().count() <= width {
        return line.to_owned();
    }
    let start: String = line.chars().take(width.saturating_sub(1)).collect();
    format!("{start}…")
}
