//! `mazurka list`: lists the programs of the corpus with their known results.

use crate::arguments::{Format, ListOptions};
use crate::refusal::Refusal;
use crate::{Done, terminal};
use corpus::{Entry, Expected};
use explore::MemoryModel;
use report::quantity::count;
use report::{FailureKind, Style, wrap};
use serde::Serialize;
use std::process::ExitCode;

/// Minimum width of the column that describes a program, even if lines get too long.
const NARROWEST: usize = 20;

/// Lists the programs.
pub fn list(options: &ListOptions) -> Done {
    let programs: Vec<Listed> = corpus::all().iter().map(listed).collect();
    let text = match options.format {
        Format::Text => table(&programs, terminal::style()),
        Format::Json => {
            let json = serde_json::to_string(&programs)
                .expect("a list has no maps whose keys are not strings");
            format!("{json}\n")
        }
    };
    terminal::print(&text).map_err(|error| Refusal::System {
        what: "print the list",
        error,
    })?;
    Ok(ExitCode::SUCCESS)
}

/// A listed program.
#[derive(Serialize)]
struct Listed {
    /// The name with default sizes, as `check` accepts it.
    name: String,
    about: &'static str,
    /// Names of the sizes.
    sizes: Vec<&'static str>,
    /// The result of a search.
    finds: String,
    failure: Option<FailureKind>,
    /// The memory model of the results.
    memory: MemoryModel,
    /// The formula for the number of traces, if there is one.
    formula: Option<String>,
    counts: Vec<Count>,
}

/// The number of traces of a program of one size.
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
        memory: expectation.memory,
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

/// Formats each program in a few lines: its description and its numbers of traces.
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
    let left = names + finds + 4;
    let mut text = String::new();
    for program in programs {
        let about = [Some(program.about.to_owned()), known_counts(program)];
        let lines = about
            .iter()
            .flatten()
            .flat_map(|about| wrap(about, style.width.saturating_sub(left).max(NARROWEST)));
        for (index, line) in lines.enumerate() {
            let (name, found) = match index {
                0 => (program.name.as_str(), program.finds.as_str()),
                _ => ("", ""),
            };
            text.push_str(&format!("{name:<names$}  {found:<finds$}  {line}\n"));
        }
    }
    text
}

/// Formats the known numbers of traces: `traces: (N + 3) * 2^(N - 2): 5 → 64, 10 → 3,328`. Returns
/// `None` if the program has no size, or if no numbers are known.
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
