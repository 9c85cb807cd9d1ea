//! The command line of interactive exploration.

use super::CheckOptions;
use crate::refusal::Refusal;
use clap::Args;
use std::path::PathBuf;

/// Options of `explore`.
#[derive(Args)]
pub struct ExploreOptions {
    #[command(flatten)]
    pub check: CheckOptions,
    /// Start with this schedule, saved by `mazurka check` or by the page
    #[arg(long, value_name = "FILE")]
    pub schedule: Option<PathBuf>,
    /// Also start a search, as `mazurka check` does, and show its progress
    #[arg(long)]
    pub search: bool,
    /// Listen on this port of the loopback interface [default: any free port]
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub port: Option<u16>,
}

impl ExploreOptions {
    /// Refuses options of `check` that say where a result goes: they have no effect here.
    pub fn refuse_others(&self) -> Result<(), Refusal> {
        let report = &self.check.report;
        let given = [
            ("--output", self.check.output.is_some()),
            ("--no-output", self.check.no_output),
            ("--checkpoint", self.check.checkpoint.is_some()),
            ("--resume", self.check.resume.is_some()),
            ("--cluster", self.check.cluster.is_some()),
            ("--format", report.format.is_some()),
            ("--html", report.html.is_some()),
            ("--junit", report.junit.is_some()),
            ("--dot", report.dot.is_some()),
            ("--mermaid", report.mermaid.is_some()),
            ("--all-events", report.all_events),
        ];
        match given.into_iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => Err(Refusal::Option {
                option,
                why: "`mazurka explore` shows everything on its page, and writes no files",
            }),
            None => Ok(()),
        }
    }
}
