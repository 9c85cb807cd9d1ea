//! A model as a test: a check, the result that the test expects, and the failure that it shows.

mod cluster;
mod html;
mod place;
mod returned;
mod runner;

pub use returned::Returned;
pub(crate) use runner::name_of_test;

use crate::{Algorithm, CheckError, Checker, Report, ScheduleFile, Verdict};
use explore::{MemoryModel, Preemptions};
use report::quantity::counted;
use report::{Failure, Limit, Omission, Style};
use runner::Runner;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// The environment variable that names the schedule file to repeat.
pub(crate) const REPLAY: &str = "MAZURKA_REPLAY";

/// The environment variable with the number of jobs, for tests that do not set it.
const JOBS: &str = "MAZURKA_JOBS";

/// The maximum number of executions under RC11 after a search with a bound on preemptions.
const WEAK_EXECUTIONS: u64 = 20_000;

/// The advice that is shown if the schedule to repeat no longer shows a bug.
const UNSET: &str = "unset the variable to check all interleavings";

/// A model that is a test. `#[mazurka::test]` creates one, with the methods of this type as
/// options.
///
/// ```
/// mazurka::TestCase::new("crate::tests::two_choices", "crate")
///     .max_executions(10)
///     .run(|| assert!(mazurka::choose(2) < 2));
/// ```
#[must_use = "call `run` to check the model"]
pub struct TestCase {
    checker: Checker,
    runner: Runner,
    /// The name of the test in its runner.
    name: String,
    /// Part of the text of the expected failure. If it is empty, the test expects any failure.
    /// `None` means that the test expects no failure.
    fails: Option<String>,
    /// Limits that the test sets. The test does not fail if the search reaches them.
    limits: Vec<Limit>,
    is_verbose: bool,
    /// Jobs for [`run_by_jobs`](TestCase::run_by_jobs).
    jobs: Option<usize>,
}

impl TestCase {
    /// Creates the test with this module path, crate name first, in a cargo package.
    pub fn new(path: &str, package: &str) -> TestCase {
        let (_, name) = path.split_once("::").unwrap_or(("", path));
        TestCase::named(name, Some(package.to_owned())).verbose(true)
    }

    /// Creates the test with this name, in a cargo package if there is one.
    pub(crate) fn named(name: &str, package: Option<String>) -> TestCase {
        TestCase {
            checker: Checker::new().name(name).accept_by_environment(),
            runner: Runner::of(package),
            name: name.to_owned(),
            fails: None,
            // If a part is not explored, the test itself has asked for that.
            limits: vec![Limit::Exploration],
            is_verbose: false,
            jobs: None,
        }
    }

    /// Creates the test that this thread of the operating system runs.
    pub fn of_this_thread() -> TestCase {
        let name = name_of_test().unwrap_or_else(|| "model".to_owned());
        TestCase::named(&name, std::env::var("CARGO_PKG_NAME").ok())
    }

    /// Like [`Checker::algorithm`]. `random` and `pct` prove nothing, but do not fail the test.
    pub fn algorithm(self, algorithm: Algorithm) -> TestCase {
        let case = self.checked(|checker| checker.algorithm(algorithm));
        match algorithm.proves() {
            true => case,
            false => case.permit(Limit::Algorithm).permit(Limit::Executions),
        }
    }

    /// Like [`Checker::memory`].
    pub fn memory(self, memory: MemoryModel) -> TestCase {
        self.checked(|checker| checker.memory(memory))
    }

    /// Like [`Checker::max_executions`]. Reaching the limit does not fail the test.
    pub fn max_executions(self, executions: u64) -> TestCase {
        self.checked(|checker| checker.max_executions(executions))
            .permit(Limit::Executions)
    }

    /// Like [`Checker::time_limit`]. Reaching the limit does not fail the test.
    pub fn time_limit(self, limit: Duration) -> TestCase {
        self.checked(|checker| checker.time_limit(limit))
            .permit(Limit::Time)
    }

    /// Like [`Checker::preemptions`]. The test does not fail because of the executions left out. If
    /// the model has orderings weaker than `SeqCst`, a second search without the bound follows,
    /// with at most 20,000 executions under RC11.
    pub fn preemptions(self, preemptions: impl Into<Preemptions>) -> TestCase {
        self.checked(|checker| checker.preemptions(preemptions))
            .permit(Limit::Preemptions)
    }

    /// Like [`Checker::max_events`]. Stopping a thread does not fail the test.
    pub fn max_events(self, events: u32) -> TestCase {
        self.checked(|checker| checker.max_events(events))
            .permit(Limit::Events)
    }

    /// Like [`Checker::max_events`]. Stopping a thread fails the test.
    pub fn fails_at(self, events: u32) -> TestCase {
        self.checked(|checker| checker.max_events(events))
    }

    /// Like [`Checker::unroll`]. Stopping a thread does not fail the test.
    pub fn unroll(self, rounds: u32) -> TestCase {
        self.checked(|checker| checker.unroll(rounds))
            .permit(Limit::Unroll)
    }

    /// Saves the state of the search in this file, and resumes from the file if it exists.
    pub fn checkpoint(self, path: &Path) -> TestCase {
        let is_there = path.is_file();
        self.checked(|checker| match is_there {
            true => checker.resume(path).checkpoint(path),
            false => checker.checkpoint(path),
        })
    }

    /// Like [`Checker::checkpoint_interval`].
    pub fn checkpoint_interval(self, executions: u64) -> TestCase {
        self.checked(|checker| checker.checkpoint_interval(executions))
    }

    /// Like [`Checker::max_threads`]. Starting more threads fails the test.
    pub fn max_threads(self, threads: usize) -> TestCase {
        self.checked(|checker| checker.max_threads(threads))
    }

    /// Like [`Checker::locations`].
    pub fn locations(self, are_shown: bool) -> TestCase {
        self.checked(|checker| checker.locations(are_shown))
    }

    /// Like [`Checker::explores`]. Interleavings that the test leaves out do not fail it.
    pub fn explores(self, from_the_beginning: bool) -> TestCase {
        self.checked(|checker| checker.explores(from_the_beginning))
    }

    /// Sets whether a passing test also prints its report to standard error, which test runners
    /// show on request (`cargo test -- --nocapture`). The value is true for `#[mazurka::test]` and
    /// for `mazurka::model` in a test.
    pub fn verbose(self, is_verbose: bool) -> TestCase {
        TestCase { is_verbose, ..self }
    }

    /// Like [`Checker::waits_alone`].
    pub fn waits_alone(self, rounds: u32) -> TestCase {
        self.checked(|checker| checker.waits_alone(rounds))
    }

    /// Like [`Checker::leaks_fail`].
    pub fn leaks_fail(self, fail: bool) -> TestCase {
        self.checked(|checker| checker.leaks_fail(fail))
    }

    /// Like [`Checker::timeouts`]. Stopping a thread does not fail the test.
    pub fn timeouts(self, timeouts: u32) -> TestCase {
        self.checked(|checker| checker.timeouts(timeouts))
            .permit(Limit::Timeouts)
    }

    /// Like [`Checker::seed`].
    pub fn seed(self, seed: u64) -> TestCase {
        self.checked(|checker| checker.seed(seed))
    }

    /// Like [`Checker::extra`].
    pub fn extra(self, executions: u64) -> TestCase {
        self.checked(|checker| checker.extra(executions))
    }

    /// Like [`Checker::keep_going`].
    pub fn keep_going(self, keeps_going: bool) -> TestCase {
        self.checked(|checker| checker.keep_going(keeps_going))
    }

    /// Sets the number of jobs for [`run_by_jobs`](TestCase::run_by_jobs). Overrides the
    /// environment.
    pub fn jobs(self, jobs: usize) -> TestCase {
        TestCase {
            jobs: Some(jobs),
            ..self
        }
    }

    /// Like [`Checker::panics_fail`].
    pub fn panics_fail(self, fail: bool) -> TestCase {
        self.checked(|checker| checker.panics_fail(fail))
    }

    /// Like [`Checker::accept_hidden`].
    pub fn accept_hidden(self, accepts: bool) -> TestCase {
        self.checked(|checker| checker.accept_hidden(accepts))
    }

    /// Makes the test pass despite hidden synchronization, which the report names.
    pub fn permit_hidden(self) -> TestCase {
        self.permit(Limit::LeftOut(Omission::Hidden))
    }

    /// Like [`Checker::waiting_after_main`].
    pub fn waiting_after_main(self, may_wait: bool) -> TestCase {
        self.checked(|checker| checker.waiting_after_main(may_wait))
    }

    /// Makes the test pass only if the model has a bug whose kind or message contains this text. If
    /// the text is empty, any bug makes the test pass.
    pub fn fails(self, text: &str) -> TestCase {
        TestCase {
            fails: Some(text.to_owned()),
            ..self
        }
    }

    /// Checks the model, or repeats the schedule that `MAZURKA_REPLAY` names if the schedule
    /// belongs to this test.
    ///
    /// # Panics
    ///
    /// Panics with the whole report if the result is not the expected one. Also panics if the model
    /// cannot be checked.
    #[track_caller]
    pub fn run(self, model: impl Fn() + 'static) {
        self.run_as(model, |checker, model| {
            let model = Rc::new(model);
            also_weakly(checker, |checker| {
                let model = Rc::clone(&model);
                checker.try_check(move || model())
            })
        });
    }

    /// Runs the test with several [jobs](Checker::jobs). [`jobs`](TestCase::jobs) or otherwise
    /// `MAZURKA_JOBS` sets their number. The default is one, because tests already run in parallel.
    /// If `MAZURKA_CLUSTER` has the URL of a NATS server, the workers of this server run the
    /// search: the command `mazurka` submits the test to them.
    ///
    /// # Panics
    ///
    /// Panics in the same cases as [`run`](TestCase::run), and if `MAZURKA_JOBS` is not a number.
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
        self.run_as(model, |checker, model| {
            let model = Arc::new(model);
            also_weakly(checker, |checker| {
                let model = Arc::clone(&model);
                checker.jobs(jobs).try_check(move || model())
            })
        });
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
                        "{}: the schedule in {REPLAY} no longer shows a bug; {UNSET}",
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
            (Verdict::Verified, None) => self.print_passing(&report),
            (Verdict::Bug, Some(text)) if is_expected(&report, text) => self.print_passing(&report),
            (Verdict::Bounded, None) if self.permits(&report) => {
                eprintln!("{}", report.text(Style::default()));
                html::write(&self.name, &report);
            }
            (_, None) => panic!("{}", self.shown(report)),
            (_, Some(text)) => panic!("expected {}\n{}", expected(text), self.shown(report)),
        }
    }

    /// Writes the page of a test that passes, and prints its report if the test is verbose.
    fn print_passing(&self, report: &Report) {
        html::write(&self.name, report);
        if self.is_verbose {
            eprintln!("{}: {}", self.name, report.text(Style::default()));
        }
    }

    /// Checks whether the test permits every limit that the search reached.
    fn permits(&self, report: &Report) -> bool {
        let mut limits = report.limits.iter();
        limits.all(|limit| self.limits.contains(limit))
    }

    /// Formats the report for the output of the test, with the command that repeats the failure.
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

    fn checked(mut self, configure: impl FnOnce(Checker) -> Checker) -> TestCase {
        self.checker = configure(self.checker);
        self
    }

    fn permit(mut self, limit: Limit) -> TestCase {
        self.limits.push(limit);
        self
    }
}

/// Checks a model. A search with a bound on preemptions runs under sequential consistency. If it
/// finds no bug, but the program has orderings weaker than `SeqCst`, a second search runs under
/// RC11 without the bound. Returns the report of the second search if that search is complete or
/// finds a bug, and otherwise the report of the first.
fn also_weakly(
    checker: Checker,
    check: impl Fn(Checker) -> Result<Report, CheckError>,
) -> Result<Report, CheckError> {
    let weakly = checker.without_preemption_bound(WEAK_EXECUTIONS);
    let mut report = check(checker)?;
    let Some(weakly) = weakly else {
        return Ok(report);
    };
    if report.verdict == Verdict::Bug || report.weak_ordering.is_none() {
        return Ok(report);
    }
    let weak = check(weakly)?;
    if weak.verdict != Verdict::Bounded {
        return Ok(weak);
    }
    report.warnings.push(format!(
        "a search under RC11 without the bound on preemptions found no bug in {}",
        counted(weak.executions, "execution")
    ));
    Ok(report)
}

/// Checks whether one of the failures has this text in its kind or message. If there is no failure,
/// checks whether the name of a goal that was not reached has this text.
fn is_expected(report: &Report, text: &str) -> bool {
    match report.errors.is_empty() {
        true => report.unreached().any(|goal| goal.name.contains(text)),
        false => report.errors.iter().any(|error| shows(error, text)),
    }
}

/// Checks whether this text is part of the failure's message or kind.
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
        Ok(0) | Err(_) => panic!("{JOBS}={jobs}: the number of jobs must be 1 or more"),
        Ok(jobs) => jobs,
    }
}

/// Returns the schedule that the environment names, if it belongs to this test.
#[track_caller]
fn schedule_to_repeat(name: &str) -> Option<ScheduleFile> {
    let path = std::env::var_os(REPLAY)?;
    match ScheduleFile::load(Path::new(&path)) {
        Ok(schedule) => (schedule.program == name).then_some(schedule),
        Err(error) => panic!("{REPLAY}: {error}"),
    }
}
