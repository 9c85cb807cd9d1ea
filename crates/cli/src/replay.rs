//! `mazurka replay`: runs exactly one saved execution again.

use crate::arguments::ReplayOptions;
use crate::check::print_report;
use crate::refusal::Refusal;
use crate::{Done, exit_code};
use mazurka::Checker;
use report::ScheduleFile;

/// Runs a saved schedule again.
pub fn replay(options: &ReplayOptions) -> Done {
    let schedule = ScheduleFile::load(&options.file)?;
    let Ok(instance) = corpus::parse(&schedule.program) else {
        let program = schedule.program;
        return Err(Refusal::ForeignSchedule {
            path: options.file.clone(),
            program,
        });
    };
    let report = Checker::new()
        .name(&schedule.program)
        .replay(&schedule, instance.program())
        .map_err(|error| Refusal::Check {
            program: schedule.program.clone(),
            error,
        })?;
    print_report(&report, options.format, options.quiet)?;
    Ok(exit_code(report.verdict))
}
