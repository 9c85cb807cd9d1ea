//! Searches by several jobs. A job is an operating-system thread that explores parts of the search
//! with a model and a strategy of its own.

use super::audit::Samples;
use super::checkpoint::{Checkpoint, State, Task, refused_if_contradictory};
use super::failures::Failures;
use super::ledger::{Known, Leading, Ledger};
use super::part::{Found, NamedFailure, Part, Position, Shown};
use super::refit::refit;
use super::search::Search;
use super::settings::Settings;
use super::slicing::Sliced;
use super::{CheckError, Checker};
use explore::{Observer, Options};
use report::{Limit, Report};
use runtime::{Model, Names};
use std::borrow::Cow;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// The maximum number of jobs. Each is a thread of the system.
const MOST_JOBS: usize = 1024;

/// A check by several jobs, created by [`Checker::jobs`].
///
/// ```
/// use mazurka::sync::Arc;
/// use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
/// use mazurka::{Checker, Verdict, thread};
///
/// let report = Checker::new().jobs(2).check(|| {
///     let count = Arc::new(AtomicU32::new(0));
///     let adds = |count: Arc<AtomicU32>| move || _ = count.fetch_add(1, SeqCst);
///     let threads = [0, 1, 2].map(|_| thread::spawn(adds(count.clone())));
///     threads.map(|thread| thread.join().unwrap());
///     assert_eq!(count.load(SeqCst), 3);
/// });
/// assert_eq!(report.verdict, Verdict::Verified);
/// assert_eq!(report.executions, 6);
/// ```
#[must_use = "the program is checked by `check`"]
pub struct Jobs {
    checker: Checker,
    jobs: usize,
}

impl Checker {
    /// Searches with this number of jobs (threads of the operating system). Call this method last:
    /// [`Jobs`] checks only programs that threads can share ([`Sync`]).
    ///
    /// With [`keep_going`](Checker::keep_going), or if there is no bug, the report has the same
    /// failures and numbers of executions as with one job. (Only the number of executions before
    /// the search started again may differ.) Without `keep_going`, the search ends with the first
    /// bug that a job finds. This bug may differ from run to run, but its schedule repeats it. Each
    /// job uses additional memory. An [observer](Checker::observer) is informed of the progress
    /// ([`Observer::progressed`](explore::Observer::progressed)), not of each execution.
    ///
    /// Only searches by `random`, `pct`, and (without a bound on preemptions) `parsimonious` and
    /// `exhaustive` can be divided. Any other search uses one job, and the report contains a
    /// warning.
    pub fn jobs(self, jobs: usize) -> Jobs {
        Jobs {
            checker: self,
            jobs,
        }
    }
}

impl Jobs {
    /// Checks the program.
    ///
    /// # Panics
    ///
    /// Panics in the same cases as [`Checker::check`].
    #[track_caller]
    pub fn check(self, program: impl Fn() + Send + Sync + 'static) -> Report {
        match self.try_check(program) {
            Ok(report) => report,
            Err(error) => panic!("{error}"),
        }
    }

    /// Checks the program.
    ///
    /// # Errors
    ///
    /// Returns an error in the same cases as [`Checker::try_check`], and if the number of jobs is
    /// invalid.
    pub fn try_check(
        self,
        program: impl Fn() + Send + Sync + 'static,
    ) -> Result<Report, CheckError> {
        let Jobs { checker, jobs } = self;
        let settings = &checker.settings;
        is_possible(jobs)?;
        if jobs == 1 {
            return checker.try_check(program);
        }
        if let Some(whole) = indivisible(settings) {
            let mut report = checker.try_check(program)?;
            report.warnings.push(by_one_job(&whole));
            return Ok(report);
        }
        settings.contradiction()?;
        let saved = State::of(settings)?;
        let program = Arc::new(program);
        let body = {
            let program = Arc::clone(&program);
            move || program()
        };
        let resume = settings.resume.clone();
        refused_if_contradictory(resume, || {
            search(checker, saved, jobs, body, |scope, work| {
                let others = (1..jobs).map(|_| {
                    let program = Arc::clone(&program);
                    scope.spawn(move || work.help(move || program()))
                });
                others.collect()
            })
        })
    }
}

/// Describes a search that cannot be divided. Returns `None` if the search can be divided.
pub(super) fn indivisible(settings: &Settings) -> Option<String> {
    let algorithm = settings.algorithm;
    if !algorithm.is_divisible(Options::default()) {
        return Some(format!("a search with {algorithm}"));
    }
    let is_bounded = !algorithm.is_divisible(settings.options());
    is_bounded.then(|| "a search with a preemption bound".to_owned())
}

/// Returns the warning that a search was not divided, although several jobs were requested.
pub(super) fn by_one_job(whole: &str) -> String {
    format!("{whole} uses only one job: its parts depend on each other")
}

/// Rejects an invalid number of jobs.
pub(super) fn is_possible(jobs: usize) -> Result<(), CheckError> {
    let why = match jobs {
        0 => "0 jobs check nothing; use at least one job, or omit the number of jobs",
        1..=MOST_JOBS => return Ok(()),
        _ => "more than 1,024 jobs need more threads than a process should have; use fewer jobs",
    };
    Err(CheckError::Contradiction(why))
}

/// A divided search, which all jobs share.
pub(super) struct Work {
    pub ledger: Ledger,
    settings: Settings,
    started: Instant,
    /// Seconds that the search took before this process resumed it.
    before_s: f64,
}

impl Work {
    /// Starts the search, or resumes it from a saved state.
    pub fn begin(
        settings: &Settings,
        saved: Option<(State<'static>, Vec<u8>)>,
        jobs: usize,
    ) -> Work {
        let (ledger, before_s) = begun(settings, saved, jobs);
        Work {
            ledger,
            settings: settings.clone(),
            started: Instant::now(),
            before_s,
        }
    }

    /// Runs slices until none is left.
    fn help(&self, program: impl Fn() + Clone + 'static) {
        while self.carry_out_one(program.clone()) {}
    }

    /// Runs the next slice. Returns false if there is none.
    fn carry_out_one(&self, program: impl Fn() + 'static) -> bool {
        let is_asked = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&is_asked);
        let early_end = Box::new(move || asked.store(true, Relaxed));
        let Some(task) = self.ledger.take(early_end) else {
            return false;
        };
        let mut settings = self.settings.of_slices(self.time_left());
        settings.asks_for_early_end = Some(Arc::new(move || is_asked.load(Relaxed)));
        settings.stops.push(Arc::clone(&self.ledger.stop));
        let spin = task.spin.clone();
        let done = Sliced::new(program).slice(&settings, &task.part, task.portion, spin);
        task.complete(done);
        true
    }

    /// Returns the rest of the time limit, if there is one.
    pub fn time_left(&self) -> Option<Duration> {
        let limit = self.settings.time_limit?;
        Some(limit.saturating_sub(self.started.elapsed()))
    }

    /// Returns the duration of the search, in seconds.
    pub fn elapsed_s(&self) -> f64 {
        self.before_s + self.started.elapsed().as_secs_f64()
    }

    /// Returns the number of executions and, if known, the fraction of the search that is done.
    pub fn progress(&self) -> (u64, Option<f64>) {
        let (executions, done) = self.ledger.progress();
        (executions, self.settings.algorithm.proves().then_some(done))
    }
}

impl Settings {
    /// Returns the settings of a slice with this much time left. The limit on executions and the
    /// trail apply to the whole search only.
    pub(super) fn of_slices(&self, time_left: Option<Duration>) -> Settings {
        Settings {
            time_limit: time_left,
            max_executions: None,
            trail: None,
            ..self.clone()
        }
    }
}

/// Runs a search. Calls `start` to start the other jobs, as soon as there is work for them.
pub(super) fn search<P: Fn() + Clone + 'static>(
    checker: Checker,
    saved: Option<(State<'static>, Vec<u8>)>,
    jobs: usize,
    program: P,
    start: impl for<'s> FnOnce(&'s Scope<'s, '_>, &'s Work) -> Vec<ScopedJoinHandle<'s, ()>>,
) -> Result<Report, CheckError> {
    let Checker {
        settings,
        mut observer,
    } = checker;
    let work = Work::begin(&settings, saved, jobs);
    let mut keeper = Keeper::of(&settings);
    thread::scope(|scope| {
        let _leading = Leading(&work.ledger);
        let (mut start, mut others) = (Some(start), Vec::new());
        keeper.save(&work)?;
        while work.carry_out_one(program.clone()) {
            if work.ledger.has_parts()
                && let Some(start) = start.take()
            {
                others = start(scope, &work);
            }
            let (executions, done) = work.progress();
            if observer.progressed(executions, done).is_break() {
                work.ledger.halt(Limit::Observer);
            }
            keeper.save_in_time(&work)?;
        }
        for other in others {
            // Propagates a panic of another job.
            other.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
        keeper.save(&work)
    })?;
    let before_s = work.elapsed_s();
    let known = work.ledger.close()?;
    let mut report = conclude(settings, observer, known, before_s, program)?;
    report.jobs = jobs;
    report.warnings.extend(keeper.unsaved());
    Ok(report)
}

/// Returns the new or resumed search, and the seconds that it took before it was saved.
fn begun(
    settings: &Settings,
    saved: Option<(State<'static>, Vec<u8>)>,
    jobs: usize,
) -> (Ledger, f64) {
    let Some((mut state, strategy)) = saved else {
        let strategy = settings.algorithm.strategy(settings.options()).save();
        let names = Arc::<Names>::default();
        let parts = vec![Part::whole(Arc::clone(&names), strategy)];
        let ledger = Ledger::new(jobs, settings, parts, names, (Found::default(), None));
        return (ledger, 0.0);
    };
    let names = Arc::new(state.names.into_owned());
    let whole = || vec![Part::whole(Arc::clone(&names), strategy)];
    let parts = state.parts.take().unwrap_or_else(whole);
    let failures = state
        .failures
        .sightings
        .iter()
        .map(|sighting| NamedFailure {
            position: Position::first(),
            shown: Shown::of(sighting, &names),
            shortest: None,
            extra: 0,
        });
    let found = Found {
        failures: failures.collect(),
        tally: state.tally.into_owned(),
        warnings: state.warnings,
        left_out: state.left_out,
        suppressed: state.suppressed,
        goals: state.goals.into_owned(),
        seen: state.seen,
    };
    let ledger = Ledger::new(jobs, settings, parts, names, (found, state.numbering));
    (ledger, state.elapsed_s)
}

/// Saves the state of the search to the checkpoint.
pub(super) struct Keeper {
    checkpoint: Option<Checkpoint>,
    interval: u64,
    /// Number of executions when the state was last saved.
    saved: u64,
}

impl Keeper {
    pub fn of(settings: &Settings) -> Keeper {
        Keeper {
            checkpoint: settings.checkpoint.clone().map(Checkpoint::new),
            interval: settings.checkpoint_interval,
            saved: 0,
        }
    }

    /// Returns the warning for the report if the last state could not be saved.
    pub fn unsaved(&self) -> Option<String> {
        self.checkpoint.as_ref().and_then(Checkpoint::unsaved)
    }

    /// Saves after enough new executions. If the first save fails, the search ends. If a later save
    /// fails, the search continues, and [`unsaved`](Keeper::unsaved) returns a warning.
    pub fn save_in_time(&mut self, work: &Work) -> Result<(), CheckError> {
        let (executions, _) = work.progress();
        if executions < self.saved + self.interval {
            return Ok(());
        }
        self.save(work)
            .inspect_err(|_| work.ledger.halt(Limit::Interrupted))
    }

    pub fn save(&mut self, work: &Work) -> Result<(), CheckError> {
        let Some(checkpoint) = &mut self.checkpoint else {
            return Ok(());
        };
        let known = work.ledger.so_far();
        let mut names = Names::clone(&known.names);
        let sighting =
            |(failure, number): &(NamedFailure, u64)| failure.shown.sighting(*number, &mut names);
        let sightings: Result<Vec<_>, _> = known.failures.iter().map(sighting).collect();
        let found = known.found;
        self.saved = found.tally.runs();
        let state = State {
            task: Task::of(&work.settings),
            tally: Cow::Owned(found.tally),
            failures: Cow::Owned(Failures {
                sightings: sightings?,
            }),
            warnings: found.warnings,
            left_out: found.left_out,
            suppressed: found.suppressed,
            goals: Cow::Owned(found.goals),
            names: Cow::Owned(names),
            elapsed_s: work.elapsed_s(),
            parts: Some(known.rest),
            numbering: Some(known.numbering),
            seen: found.seen,
        };
        checkpoint.save(&state, &[])
    }
}

/// Creates the report from the results of all jobs.
pub(super) fn conclude(
    mut settings: Settings,
    observer: Box<dyn Observer>,
    known: Known,
    before_s: f64,
    program: impl Fn() + 'static,
) -> Result<Report, CheckError> {
    let names = Names::clone(&known.names);
    settings.adopt(&names);
    let model = Model::with_names(settings.model_config(), names, program);
    let strategy = settings.algorithm.strategy(settings.options());
    let mut search = Search::of(settings, observer, model, strategy, before_s)?;
    let found = known.found;
    search.tally = found.tally;
    search.tally.add(&known.broken_off);
    search.model.warned(found.warnings);
    search.model.leave_out(found.left_out);
    search.model.add_suppressed(found.suppressed);
    search.model.set_goals(found.goals);
    search.elsewhere = found.seen;
    search.samples = Samples::of_part(0);
    search.halt = known.halt;
    search.spin = known.spin;
    for (index, (failure, number)) in known.failures.iter().enumerate() {
        let mut sighting = failure.shown.sighting(*number, search.model.names_mut())?;
        let is_known = search.failures.contains(&sighting.symptom);
        let fits = index >= known.older || refit(&mut sighting, &mut search.model);
        if is_known || !fits || search.is_done_with_bugs() {
            continue;
        }
        search.failures.sightings.push(sighting);
        search.extra = failure.extra;
        if let Some(shortest) = &failure.shortest {
            let later = shortest.execution.saturating_sub(failure.shown.execution);
            let names = search.model.names_mut();
            search.shortest = Some(shortest.sighting(number + later, names)?);
        }
    }
    assert!(
        known.rest.is_empty() || search.halt.is_some() || !search.failures.is_empty(),
        "a search ends when nothing is left, at a limit or with a bug"
    );
    search.take_report()
}
