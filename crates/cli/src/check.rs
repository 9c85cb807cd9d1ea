//! `mazurka check`: searches, saves the schedules of failures and shows the report.

use crate::arguments::CheckOptions;
use crate::output_files::{are_distinct, has_directory, is_replaceable, is_same, is_writable};
use crate::progress_line::ProgressLine;
use crate::refusal::Refusal;
use crate::replay::foreign_part;
use crate::subject::Subject;
use crate::{
    Done, cluster, corpus_job, crew, exit_code, interruption, native_check, presentation, terminal,
};
use corpus::Instance;
use mazurka::Checker;
use report::{Order, Report};
use std::path::{Path, PathBuf};

/// Checks a program.
pub fn check(options: &CheckOptions) -> Done {
    let subject = Subject::of(options)?;
    let output = (!options.no_output).then(|| {
        let output = options.output.clone();
        output.unwrap_or_else(|| PathBuf::from(format!("{}.schedule.json", subject.file_stem())))
    });
    if let Some(path) = &options.checkpoint {
        is_replaceable(path)?;
        has_directory(path)?;
    }
    for path in [&options.checkpoint, &options.resume] {
        differ(output.as_deref(), path.as_deref())?;
    }
    let reports = options.report.files();
    let outputs: Vec<&Path> = output.as_deref().into_iter().chain(reports).collect();
    let _pipes = outputs
        .iter()
        .map(|path| is_writable(path))
        .collect::<Result<Vec<_>, _>>()?;
    are_distinct(outputs.iter().copied(), options.resume.as_deref())?;
    let programs = options.program.iter().map(Path::new);
    let inputs = options.suppressions.as_deref().into_iter().chain(programs);
    are_distinct(
        outputs.into_iter().chain(options.checkpoint.as_deref()),
        inputs,
    )?;
    let line = ProgressLine::new(!options.report.quiet);
    let mut report = search(options, &subject, &line)?;
    if let Some(path) = &output {
        save_schedules(&mut report, path);
    }
    presentation::show(&report, &options.report)?;
    Ok(exit_code(report.verdict))
}

/// Searches and returns the report.
pub fn search(
    options: &CheckOptions,
    subject: &Subject,
    line: &ProgressLine,
) -> Result<Report, Refusal> {
    match subject {
        Subject::Corpus(instance) => search_corpus(options, instance, line),
        Subject::Native(program) => native_check::search(options, program, line),
    }
}

fn search_corpus(
    options: &CheckOptions,
    instance: &Instance,
    line: &ProgressLine,
) -> Result<Report, Refusal> {
    let stop = interruption::flag()?;
    if options.leashed {
        interruption::at_end_of_input(&stop);
    }
    let order = native_check::order(options, instance.to_string())?;
    let checker = checker(options, &order);
    let refused = |error| Refusal::Check {
        program: order.name.clone(),
        error,
    };
    if let Some(server) = options.server() {
        let job = (order, cluster::Program::Corpus(instance.to_string()), None);
        return cluster::search(&server, job, &stop, line);
    }
    let divided = options.jobs().divide(&checker).map_err(refused)?;
    let report = match divided {
        Ok(division) => {
            let executable = corpus_job::executable(instance)?;
            crew::search(division, &executable, &order, &stop, line)
        }
        Err(warning) => {
            let checker = checker.stop(stop).observer(line.observer());
            let report = checker.try_check(instance.program()).map_err(refused);
            report.map(|mut report| {
                report.warnings.extend(warning);
                report
            })
        }
    };
    line.clear();
    report
}

/// Returns a checker with these options and this order.
pub fn checker(options: &CheckOptions, order: &Order) -> Checker {
    let mut checker = Checker::ordered(order).algorithm(options.algorithm);
    if let Some(path) = &options.checkpoint {
        checker = checker.checkpoint(path);
    }
    if let Some(path) = &options.resume {
        checker = checker.resume(path);
    }
    checker
}

/// Saves the schedule of each failure and records the name of the file. If that fails, the bug is
/// reported nevertheless.
fn save_schedules(report: &mut Report, path: &Path) {
    for (index, failure) in report.errors.iter_mut().enumerate() {
        let path = numbered(path, index + 1);
        match failure.schedule.save(&path) {
            Ok(()) => {
                let name = path.display().to_string();
                let shown = match name.starts_with('-') {
                    true => quoted(&format!("./{name}")),
                    false => quoted(&name),
                };
                let recipe = failure.schedule.recipe.as_ref();
                let trust = match recipe.and_then(foreign_part) {
                    Some(_) => " --trust-recipe",
                    None => "",
                };
                failure.repeat_with = Some(format!("mazurka replay {shown}{trust}"));
                failure.saved_as = Some(name);
            }
            Err(error) => terminal::complain(&error.to_string()),
        }
    }
}

/// Adds the number of a bug to a file name, unless it is the first bug: `a.schedule.json` →
/// `a-2.schedule.json` for the second bug.
fn numbered(path: &Path, number: usize) -> PathBuf {
    if number == 1 {
        return path.to_owned();
    }
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let (stem, extensions) = name.split_once('.').unwrap_or((&name, ""));
    let dot = if extensions.is_empty() { "" } else { "." };
    path.with_file_name(format!("{stem}-{number}{dot}{extensions}"))
}

/// Quotes a word for a shell if necessary.
pub fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:,".contains(letter);
    match word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Checks that the schedule of a bug does not overwrite the state of the search.
fn differ(output: Option<&Path>, state: Option<&Path>) -> Result<(), Refusal> {
    match (output, state) {
        (Some(output), Some(state)) if is_same(output, state) => {
            Err(Refusal::SameFile(state.to_owned()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schedules_of_several_failures_are_numbered() {
        let path = Path::new("out/a.schedule.json");
        assert_eq!(numbered(path, 1), path);
        assert_eq!(numbered(path, 2), Path::new("out/a-2.schedule.json"));
        assert_eq!(numbered(Path::new("plain"), 3), Path::new("plain-3"));
    }

    #[test]
    fn names_are_quoted_where_a_shell_needs_it() {
        assert_eq!(quoted("a-b.schedule.json"), "a-b.schedule.json");
        assert_eq!(quoted("my file's"), r"'my file'\''s'");
    }
}
