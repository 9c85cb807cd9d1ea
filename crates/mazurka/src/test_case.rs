//! A model as a test: a check with what the test expects of it, and the failure that it shows.

mod cluster;
mod html;
mod place;
mod returned;
mod runner;

pub use returned::Returned;
pub(crate) use runner::name_of_test;

use crate::{Algorithm, CheckError, Checker, Report, ScheduleFile, Verdict};
use explore::Preemptions;
use report::{Failure, Limit, Omission, Style};
use runner::Runner;
use std::path::Path;
use std::time::Duration;

/// The variable with the schedule file that a test is to repeat.
pub(crate) const REPLAY: &str = "MAZURKA_REPLAY";

/// The variable with the number of jobs of tests that do not say how many they have.
const JOBS: &str = "MAZURKA_JOBS";

/// What one execution leaves to do.
const UNSET: &str = "without the variable all interleavings are checked";

/// A model that is a test. `#[mazurka::test]` makes one; its options are the methods of this type.
///
/// ```
/// mazurka::TestCase::new("crate::tests::two_choices", "crate")
///     .max_executions(10)
///     .run(|| assert!(mazurka::choose(2) < 2));
/// ```
#[must_use = "the model is checked by `run`"]
pub struct TestCase {
    checker: Checker,
    runner: Runner,
    /// The name of the test as its runner knows it.
    name: String,
    /// A part of the failure that is expected; any will do if it is empty.
    fails: Option<String>,
    /// The limits that were asked for: that they are met is no failure of the test.
    limits: Vec<Limit>,
    is_told: bool,
    /// Of [`run_by_jobs`](TestCase::run_by_jobs).
    jobs: Option<usize>,
}

impl TestCase {
    /// The test at this path of modules, which begins with that of its crate, in a package of cargo.
    pub fn new(path: &str, package: &str) -> TestCase {
        let (_, name) = path.split_once("::").unwrap_or(("", path));
        TestCase::named(name, Some(package.to_owned())).told(true)
    }

    /// The test with this name, in a package of cargo if there is one.
    pub(crate) fn named(name: &str, package: Option<String>) -> TestCase {
        TestCase {
            checker: Checker::new().name(name).accept_by_environment(),
            runner: Runner::of(package),
            name: name.to_owned(),
            fails: None,
            // Who asks the test not to explore a part of it is the test.
            limits: vec![Limit::Exploration],
            is_told: false,
            jobs: None,
        }
    }

    /// The test that runs in this thread of the operating system.
    pub fn of_this_thread() -> TestCase {
        let name = name_of_test().unwrap_or_else(|| "model".to_owned());
        TestCase::named(&name, std::env::var("CARGO_PKG_NAME").ok())
    }

    /// As [`Checker::algorithm`]. That `random` and `pct` prove nothing is no failure of the test.
    pub fn algorithm(self, algorithm: Algorithm) -> TestCase {
        let case = self.checked(|checker| checker.algorithm(algorithm));
        match algorithm.proves() {
            true => case,
            false => case.permit(Limit::Algorithm).permit(Limit::Executions),
        }
    }

    /// As [`Checker::max_executions`]; to stop there is no failure of the test.
    pub fn max_executions(self, executions: u64) -> TestCase {
        self.checked(|checker| checker.max_executions(executions))
            .permit(Limit::Executions)
    }

    /// As [`Checker::time_limit`]; to stop there is no failure of the test.
    pub fn time_limit(self, limit: Duration) -> TestCase {
        self.checked(|checker| checker.time_limit(limit))
            .permit(Limit::Time)
    }

    /// As [`Checker::preemptions`]; to leave executions out is no failure of the test.
    pub fn preemptions(self, preemptions: impl Into<Preemptions>) -> TestCase {
        self.checked(|checker| checker.preemptions(preemptions))
            .permit(Limit::Preemptions)
    }

    /// As [`Checker::max_events`]; to stop a thread there is no failure of the test.
    pub fn max_events(self, events: u32) -> TestCase {
        self.checked(|checker| checker.max_events(events))
            .permit(Limit::Events)
    }

    /// As [`Checker::max_events`]; to stop a thread fails the test.
    pub fn fails_at(self, events: u32) -> TestCase {
        self.checked(|checker| checker.max_events(events))
    }

    /// As [`Checker::unroll`]; to stop a thread there is no failure of the test.
    pub fn unroll(self, rounds: u32) -> TestCase {
        self.checked(|checker| checker.unroll(rounds))
            .permit(Limit::Unroll)
    }

    /// The state of the search is saved in this file, and the search goes on from there if the file is there.
    pub fn checkpoint(self, path: &Path) -> TestCase {
        let is_there = path.is_file();
        self.checked(|checker| match is_there {
            true => checker.resume(path).checkpoint(path),
            false => checker.checkpoint(path),
        })
    }

    /// As [`Checker::checkpoint_interval`].
    pub fn checkpoint_interval(self, executions: u64) -> TestCase {
        self.checked(|checker| checker.checkpoint_interval(executions))
    }

    /// As [`Checker::max_threads`]; to start more fails the test.
    pub fn max_threads(self, threads: usize) -> TestCase {
        self.checked(|checker| checker.max_threads(threads))
    }

    /// As [`Checker::locations`].
    pub fn locations(self, are_shown: bool) -> TestCase {
        self.checked(|checker| checker.locations(are_shown))
    }

    /// As [`Checker::explores`]. That a test leaves interleavings out is no failure of it.
    pub fn explores(self, from_the_beginning: bool) -> TestCase {
        self.checked(|checker| checker.explores(from_the_beginning))
    }

    /// Whether the report of a test that passes is printed, too: to standard error, which runners of tests show where they are
    /// asked to (`cargo test -- --nocapture`). So it is for `#[mazurka::test]`, and for a `mazurka::model` in a test.
    pub fn told(self, is_told: bool) -> TestCase {
        TestCase { is_told, ..self }
    }

    /// As [`Checker::waits_alone`].
    pub fn waits_alone(self, rounds: u32) -> TestCase {
        self.checked(|checker| checker.waits_alone(rounds))
    }

    /// As [`Checker::leaks_fail`].
    pub fn leaks_fail(self, fail: bool) -> TestCase {
        self.checked(|checker| checker.leaks_fail(fail))
    }

    /// As [`Checker::timeouts`]; to stop a thread there is no failure of the test.
    pub fn timeouts(self, timeouts: u32) -> TestCase {
        self.checked(|checker| checker.timeouts(timeouts))
            .permit(Limit::Timeouts)
    }

    /// As [`Checker::seed`].
    pub fn seed(self, seed: u64) -> TestCase {
        self.checked(|checker| checker.seed(seed))
    }

    /// As [`Checker::extra`].
    pub fn extra(self, executions: u64) -> TestCase {
        self.checked(|checker| checker.extra(executions))
    }

    /// As [`Checker::keep_going`].
    pub fn keep_going(self, keeps_going: bool) -> TestCase {
        self.checked(|checker| checker.keep_going(keeps_going))
    }

    /// How many jobs [`run_by_jobs`](TestCase::run_by_jobs) searches with, whatever the environment says.
    pub fn jobs(self, jobs: usize) -> TestCase {
        TestCase {
            jobs: Some(jobs),
            ..self
        }
    }

    /// As [`Checker::panics_fail`].
    pub fn panics_fail(self, fail: bool) -> TestCase {
        self.checked(|checker| checker.panics_fail(fail))
    }

    /// As [`Checker::accept_hidden`].
    pub fn accept_hidden(self, accepts: bool) -> TestCase {
        self.checked(|checker| checker.accept_hidden(accepts))
    }

    /// The test passes if the program has hidden synchronisation; the report names it.
    pub fn permit_hidden(self) -> TestCase {
        self.permit(Limit::LeftOut(Omission::Hidden))
    }

    /// As [`Checker::waiting_after_main`].
    pub fn waiting_after_main(self, may_wait: bool) -> TestCase {
        self.checked(|checker| checker.waiting_after_main(may_wait))
    }

    /// The test passes if the model has a bug whose kind or message contains this text; any bug will do if
    /// it is empty.
    pub fn fails(self, text: &str) -> TestCase {
        TestCase {
            fails: Some(text.to_owned()),
            ..self
        }
    }

    /// Checks the model, or repeats the schedule that `MAZURKA_REPLAY` names if it is of this test.
    ///
    /// # Panics
    ///
    /// With the whole report unless the model is what the test expects, and if it cannot be checked.
    #[track_caller]
    pub fn run(self, model: impl Fn() + 'static) {
        self.run_as(model, Checker::try_check);
    }

    /// The same with as many [jobs](Checker::jobs) as were asked for, or else as `MAZURKA_JOBS` in the environment says, or one:
    /// tests run side by side anyway. With `MAZURKA_CLUSTER=URL` the workers of this NATS server search: the command `mazurka`
    /// submits this test to them.
    ///
    /// # Panics
    ///
    /// As [`run`](TestCase::run), and if `MAZURKA_JOBS` is no number.
    #[track_caller]
    pub fn run_by_jobs(self, model: impl Fn() + Send + Sync + 'static) {
        if let Some(order) = cluster::errands_of(&self.name) {
            cluster::serve(self.checker, &order, model);
        }
        if let Some(url) = cluster::url() {
            let name = self.name.clone();
            return self.run_as(model, |checker, model| {
                cluster::check(checker, &url, &name, model)
            });
        }
        let jobs = self.jobs.unwrap_or_else(jobs_by_environment);
        self.run_as(model, |checker, model| checker.jobs(jobs).try_check(model));
    }

    #[track_caller]
    fn run_as<M: Fn() + 'static>(
        mut self,
        model: M,
        check: impl FnOnce(Checker, M) -> Result<Report, CheckError>,
    ) {
        let checker = std::mem::take(&mut self.checker)
            .explain(html::is_wanted())
            .draw(html::is_wanted());
        let report = match schedule_to_repeat(&self.name) {
            Some(schedule) => {
                let report = checker.replay(&schedule, model);
                if report.as_ref().is_ok_and(|report| report.errors.is_empty()) {
                    eprintln!(
                        "{}: the schedule of {REPLAY} shows no bug any more; {UNSET}",
                        self.name
                    );
                    return;
                }
                report
            }
            None => check(checker, model),
        };
        match report {
            Ok(report) => self.judge(report),
            Err(error) => panic!("{error}"),
        }
    }

    #[track_caller]
    fn judge(&self, report: Report) {
        match (report.verdict, &self.fails) {
            (Verdict::Verified, None) => self.tell(&report),
            (Verdict::Bug, Some(text)) if is_expected(&report, text) => self.tell(&report),
            (Verdict::Bounded, None) if self.permits(&report) => {
                eprintln!("{}", report.text(Style::default()));
                html::write(&self.name, &report);
            }
            (_, None) => panic!("{}", self.shown(report)),
            (_, Some(text)) => panic!("expected {}\n{}", expected(text), self.shown(report)),
        }
    }

    /// What a test that passes has to tell: how much was executed, what raced, what was noticed.
    fn tell(&self, report: &Report) {
        html::write(&self.name, report);
        if self.is_told {
            eprintln!("{}: {}", self.name, report.text(Style::default()));
        }
    }

    /// Whether nothing else was cut off than what the test itself asked to.
    fn permits(&self, report: &Report) -> bool {
        let mut limits = report.limits.iter();
        limits.all(|limit| self.limits.contains(limit))
    }

    /// The report for the output of a test, with the command that repeats the failure.
    fn shown(&self, mut report: Report) -> String {
        let is_repeated = report.limits.contains(&Limit::Replay);
        if let Some(first) = report.errors.first_mut().filter(|_| !is_repeated) {
            let path = place::place_for(&self.name);
            match first.schedule.save(&path) {
                Ok(()) => {
                    let path = path.display().to_string();
                    first.repeat_with = Some(self.runner.command(REPLAY, &path, &self.name));
                    first.saved_as = Some(path);
                }
                Err(error) => report.warnings.push(error.to_string()),
            }
        }
        html::write(&self.name, &report);
        format!("\n{}", report.text(Style::default()))
    }

    fn checked(mut self, tell: impl FnOnce(Checker) -> Checker) -> TestCase {
        self.checker = tell(self.checker);
        self
    }

    fn permit(mut self, limit: Limit) -> TestCase {
        self.limits.push(limit);
        self
    }
}

/// Whether the model has the bug that this text tells of.
fn is_expected(report: &Report, text: &str) -> bool {
    match report.errors.is_empty() {
        true => report.unreached().any(|goal| goal.name.contains(text)),
        false => report.errors.iter().any(|error| shows(error, text)),
    }
}

/// Whether the failure is one that this text tells of.
fn shows(failure: &Failure, text: &str) -> bool {
    failure.message.contains(text) || failure.kind.name().contains(text)
}

fn expected(text: &str) -> String {
    match text {
        "" => "a failure".to_owned(),
        text => format!("a failure with {text:?}"),
    }
}

#[track_caller]
fn jobs_by_environment() -> usize {
    let Ok(jobs) = std::env::var(JOBS) else {
        return 1;
    };
    match jobs.parse() {
        Ok(0) | Err(_) => panic!("{JOBS}={jobs}: give a number of jobs, 1 or more"),
        Ok(jobs) => jobs,
    }
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
