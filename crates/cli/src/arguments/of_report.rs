//! The options for the output of a result.

use clap::{Args, ValueEnum};
use clap_complete::Shell;
use std::path::{Path, PathBuf};

/// How the result of a search is printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// Human-readable text.
    Text,
    /// One JSON object in one line.
    Json,
    /// A SARIF 2.1.0 log, for code scanning.
    Sarif,
    /// Human-readable text with annotations for GitHub workflows.
    Github,
}

/// How the result of a search is shown.
#[derive(Args, Clone)]
pub struct ReportOptions {
    /// Output format [default: github in a GitHub workflow, otherwise text]
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<ReportFormat>,
    /// Print only the verdict, and no progress
    #[arg(long, short)]
    pub quiet: bool,
    /// Show all events of an execution, even of a long one
    #[arg(long)]
    pub all_events: bool,
    /// Explain why an execution fails, with some extra executions [default with --html]
    #[arg(long)]
    pub why: bool,
    /// Write the result to this file as an HTML page
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write a JUnit test case to this file
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write the failing execution to this file as a Graphviz graph (`dot -Tsvg`)
    #[arg(long, value_name = "FILE")]
    pub dot: Option<PathBuf>,
    /// Write the failing execution to this file as a Mermaid sequence diagram
    #[arg(long, value_name = "FILE")]
    pub mermaid: Option<PathBuf>,
}

impl ReportOptions {
    /// Returns the files to write.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let files = [&self.html, &self.junit, &self.dot, &self.mermaid];
        files.into_iter().flatten().map(PathBuf::as_path)
    }

    /// Checks whether to find out why an execution fails.
    pub fn explains(&self) -> bool {
        self.why || self.html.is_some()
    }
}

/// Options of `completions`.
#[derive(Args)]
pub struct CompletionsOptions {
    /// The shell
    pub shell: Shell,
}

/// Options of `man`.
#[derive(Args)]
pub struct ManOptions {
    /// The command [default: mazurka itself]
    pub command: Option<String>,
}
