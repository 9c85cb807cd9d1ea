//! `mazurka show`: shows the safe schedules as text or as a graph.

use crate::arguments::{ShowOptions, Shown};
use crate::output_files::{are_distinct, is_writable};
use crate::refusal::Refusal;
use crate::{Done, presentation, terminal};
use report::{SafeTrace, harmless};
use std::process::ExitCode;

/// Shows a file that `verify` saved.
pub fn show(options: &ShowOptions) -> Done {
    let trace = SafeTrace::load(&options.file)?;
    let _pipe = options.html.as_deref().map(is_writable).transpose()?;
    are_distinct(options.html.as_deref(), [options.file.as_path()])?;
    if let Some(path) = &options.html {
        presentation::write_safe(std::slice::from_ref(&trace), path)?;
    }
    let text = match options.format {
        Shown::Text => trace.text(),
        Shown::Dot => trace.dot(),
    };
    terminal::print(&harmless(&text)).map_err(|error| Refusal::System {
        what: "print the constraints",
        error,
    })?;
    Ok(ExitCode::SUCCESS)
}
