//! `mazurka check-run`: checks whether a recorded run kept to the verified schedules.

use crate::Done;
use crate::arguments::CheckRunOptions;
use crate::refusal::Refusal;
use report::{Case, Constraint, Recording, SafeTrace, harmless};
use std::process::ExitCode;

/// Exit code if the run broke a constraint.
const BROKEN: u8 = 1;

/// Compares a record with a safe trace.
pub fn check_run(options: &CheckRunOptions) -> Done {
    let recording = Recording::load(&options.record)?;
    let trace = SafeTrace::load(&options.safe)?;
    if recording.program_checksum != trace.program_checksum {
        return Err(Refusal::OtherRecord {
            record: options.record.clone(),
            trace: options.safe.clone(),
        });
    }
    let case = trace.case(&recording.inputs).ok_or_else(|| {
        Refusal::UnverifiedInputs(
            "the recorded run had inputs that the safe trace does not cover".to_owned(),
        )
    })?;
    let adherence = recording.adherence(case);
    for constraint in &adherence.broken {
        println!("broken: {}", harmless(&shown(case, constraint)));
    }
    println!(
        "constraints: {} of {} kept, {} not reached, {} broken",
        adherence.kept,
        case.constraints.len(),
        adherence.not_reached,
        adherence.broken.len()
    );
    Ok(match adherence.broken.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(BROKEN),
    })
}

fn shown(case: &Case, constraint: &Constraint) -> String {
    let point = |point: report::Point| {
        let path = case.threads.get(point.thread as usize);
        let path = path.map_or("?", |path| path.as_str());
        format!("event {} of thread {path}", point.index)
    };
    format!(
        "{} must come before {}",
        point(constraint.first),
        point(constraint.then)
    )
}
