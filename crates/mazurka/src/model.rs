//! What a test calls: a check with the defaults that panics unless the program is verified.

use crate::{Checker, Report, ScheduleFile, Verdict};
use report::Style;
use std::path::{Path, PathBuf};

/// The variable with the schedule file that `model` is to repeat.
const REPLAY: &str = "MAZURKA_REPLAY";

/// What one execution leaves to do.
const UNSET: &str = "without the variable all interleavings are checked";

/// Checks the program with the defaults of [`Checker`].
///
/// ```
/// use mazurka::sync::{Arc, Mutex};
/// use mazurka::thread;
///
/// mazurka::model(|| {
///     let count = Arc::new(Mutex::new(0));
///     let other = thread::spawn({
///         let count = Arc::clone(&count);
///         move || *count.lock().unwrap() += 1
///     });
///     *count.lock().unwrap() += 1;
///     other.join().unwrap();
///     assert_eq!(*count.lock().unwrap(), 2);
/// });
/// ```
///
/// A failure is saved as a schedule file, and the panic says where. With `MAZURKA_REPLAY` set to that
/// file the same test runs exactly that schedule again, and passes with a note if it shows no bug any more.
///
/// # Panics
///
/// With the whole report if the program has a bug or a bound was met, and if the program is not
/// deterministic.
#[track_caller]
pub fn model(program: impl Fn() + 'static) {
    let name = std::thread::current().name().unwrap_or("model").to_owned();
    let checker = Checker::new().name(&name);
    let report = match schedule_to_repeat(&name) {
        Some(schedule) => {
            let report = checker.replay(&schedule, program);
            if report.as_ref().is_ok_and(|report| report.errors.is_empty()) {
                eprintln!("{name}: the schedule of {REPLAY} shows no bug any more; {UNSET}");
                return;
            }
            report
        }
        None => checker.schedule_file(place_for(&name)).try_check(program),
    };
    match report {
        Ok(report) if report.verdict == Verdict::Verified => {}
        Ok(report) => panic!("{}", shown(report)),
        Err(error) => panic!("{error}"),
    }
}

/// The report for the output of a test, with the command that repeats the failure.
fn shown(mut report: Report) -> String {
    for failure in &mut report.errors {
        let path = failure.saved_as.as_ref();
        failure.repeat_with =
            path.map(|path| format!("{REPLAY}={path} cargo test {}", report.program));
    }
    format!("\n{}", report.text(Style::default()))
}

/// The schedule that the environment names, if it is of this test.
#[track_caller]
fn schedule_to_repeat(name: &str) -> Option<ScheduleFile> {
    let path = std::env::var_os(REPLAY)?;
    match ScheduleFile::load(Path::new(&path)) {
        Ok(schedule) => (schedule.program == name).then_some(schedule),
        Err(error) => panic!("{REPLAY}: {error}"),
    }
}

/// Where the schedule of a failing test goes: to cargo's target directory, in which the test lies, else to
/// the temporary files.
fn place_for(name: &str) -> PathBuf {
    let file = format!(
        "{}.schedule.json",
        name.replace(|letter: char| !letter.is_alphanumeric(), "-")
    );
    let test = std::env::current_exe().unwrap_or_default();
    target_of(&test)
        .unwrap_or_else(std::env::temp_dir)
        .join(file)
}

/// `TARGET/PROFILE/deps/TEST` → `TARGET`
fn target_of(test: &Path) -> Option<PathBuf> {
    let directory = test.parent()?;
    let is_of_cargo = directory.file_name()? == "deps";
    is_of_cargo.then(|| directory.ancestors().nth(2).map(Path::to_owned))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_of_cargo_lies_in_its_target_directory() {
        let target = |path: &str| target_of(Path::new(path));
        assert_eq!(
            target("/a/target/debug/deps/test-1f"),
            Some(PathBuf::from("/a/target"))
        );
        assert_eq!(target("/usr/bin/test"), None);
        assert_eq!(target(""), None);
    }
}
