//! Shows the result of a search: prints it and writes the requested files.

use crate::arguments::{ReportFormat, ReportOptions};
use crate::refusal::Refusal;
use crate::terminal;
use page::Sources;
use report::{Interleaving, Report, SafeTrace, Style, harmless_json};
use std::path::{Path, PathBuf};

/// Writes a page that shows the safe schedules, in all versions of their file.
pub fn write_safe(versions: &[SafeTrace], path: &Path) -> Result<(), Refusal> {
    let folder = std::env::current_dir().unwrap_or_default();
    let cases = versions.iter().flat_map(|trace| &trace.cases);
    let events = cases.flat_map(|case| &case.events);
    let places = events.filter_map(|event| event.place.as_deref());
    let sources = Sources::around(places, &folder);
    write(path, &page::safe(versions, &sources))
}

/// Prints the report and writes the files.
pub fn show(report: &Report, options: &ReportOptions) -> Result<(), Refusal> {
    let style = Style {
        all_events: options.all_events,
        ..terminal::style()
    };
    let readable = || match options.quiet {
        true => format!("{}\n", report.headline(style)),
        false => report.text(style),
    };
    let text = match options.format.unwrap_or_else(usual_format) {
        ReportFormat::Text => readable(),
        ReportFormat::Github => formats::github(report, &readable()),
        ReportFormat::Json => {
            let json = serde_json::to_string(report)
                .expect("a report has no maps whose keys are not strings");
            format!("{}\n", harmless_json(&json))
        }
        ReportFormat::Sarif => {
            let json = formats::sarif(report).to_string();
            format!("{}\n", harmless_json(&json))
        }
    };
    print(&text)?;
    if let Some(path) = &options.html {
        let folder = std::env::current_dir().unwrap_or_default();
        write(path, &page::page(report, &Sources::of(report, &folder)))?;
    }
    if let Some(path) = &options.junit {
        write(path, &formats::junit(report))?;
    }
    let failing = report.errors.first().map(|failure| &failure.interleaving);
    draw(failing, options.dot.as_ref(), formats::dot)?;
    draw(failing, options.mermaid.as_ref(), formats::mermaid)
}

/// Prints a report as text.
pub fn print_text(report: &Report) -> Result<(), Refusal> {
    print(&report.text(terminal::style()))
}

fn print(text: &str) -> Result<(), Refusal> {
    terminal::print(text).map_err(|error| Refusal::System {
        what: "print the report",
        error,
    })
}

fn usual_format() -> ReportFormat {
    let is_workflow = std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true");
    match is_workflow {
        true => ReportFormat::Github,
        false => ReportFormat::Text,
    }
}

/// Writes the diagram of the failing execution.
fn draw(
    failing: Option<&Interleaving>,
    path: Option<&PathBuf>,
    diagram: fn(&Interleaving) -> String,
) -> Result<(), Refusal> {
    match (path, failing) {
        (Some(path), Some(failing)) => write(path, &diagram(failing)),
        (Some(path), None) => {
            let path = path.display();
            terminal::complain(&format!(
                "no execution fails, so there is none to draw: {path} was not written"
            ));
            Ok(())
        }
        (None, _) => Ok(()),
    }
}

/// Writes a file. A regular file keeps its content until the new content is complete.
pub fn write(path: &Path, text: &str) -> Result<(), Refusal> {
    report::write_file(path, text).map_err(|error| Refusal::Unwritable {
        path: path.to_owned(),
        error,
    })
}
