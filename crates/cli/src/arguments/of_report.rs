//! The options for the output of a result.

use clap::{Args, ValueEnum};
use clap_complete::Shell;
use std::path::PathBuf;

/// How the result of a search is printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For people.
    Text,
    /// One JSON object in one line.
    Json,
    /// A log of SARIF 2.1.0, for code scanning.
    Sarif,
    /// For people, with annotations for GitHub's workflows.
    Github,
}

/// How the result of a search is shown.
#[derive(Args, Clone)]
pub struct ReportOptions {
    /// How to print the result [default: github in a workflow of GitHub, else text]
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<ReportFormat>,
    /// Print the verdict only, and no progress
    #[arg(long, short)]
    pub quiet: bool,
    /// Show all events of an execution, also if it is long
    #[arg(long)]
    pub all_events: bool,
    /// Find out why an execution fails, by some more executions [default: with --html]
    #[arg(long)]
    pub why: bool,
    /// Write the result to this file as a page for a browser
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write a test case for JUnit to this file
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write the execution that fails to this file, as a graph for `dot -Tsvg`
    #[arg(long, value_name = "FILE")]
    pub dot: Option<PathBuf>,
    /// Write the execution that fails to this file, as a sequence diagram of Mermaid
    #[arg(long, value_name = "FILE")]
    pub mermaid: Option<PathBuf>,
}

impl ReportOptions {
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
    /// The command [default: all in general]
    pub command: Option<String>,
}
