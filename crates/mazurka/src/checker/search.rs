//! A search from its start, or from a checkpoint, to its report.

use super::checkpoint::{Checkpoint, State, Task};
use super::failures::{Failures, Sighting, Symptom};
use super::linearisation::{switches, with_few_switches};
use super::memory::peak_rss_bytes;
use super::tally::Tally;
use super::{CheckError, Checker};
use explore::{
    Bound, Halt, Interrupt, Observer, Outcome, Pending, Program, Replay, Schedule, Strategy,
    ThreadId,
};
use report::{Failure, Report, ScheduleFile, Verdict, bound_name};
use runtime::{Config, Model};
use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

/// The clock is looked at after as many events.
const EVENTS_BETWEEN_LOOKS: u64 = 500;

/// A search under way.
pub(super) struct Search {
    checker: Checker,
    model: Model,
    strategy: Box<dyn Strategy>,
    tally: Tally,
    failures: Failures,
    /// Why the search ended before it was done.
    halt: Option<Limit>,
    started: Instant,
    /// Wall clock of the search before this process took it over.
    elapsed_before_s: f64,
    /// Events when the clock was last looked at.
    looked_at: u64,
}

/// Why a search ended before it was done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Limit {
    Executions,
    Time,
    Stop,
    Observer,
    Replay,
}

/// Ends [`explore::explore()`] after one execution.
#[derive(Default)]
struct UntilEnded(Option<Outcome>);

impl Observer for UntilEnded {
    fn ended(&mut self, outcome: Outcome, _strategy: &dyn Strategy) -> ControlFlow<()> {
        self.0 = Some(outcome);
        ControlFlow::Break(())
    }
}

impl Search {
    /// A search that is to begin, or to go on.
    pub fn new(checker: Checker, program: impl Fn() + 'static) -> Result<Search, CheckError> {
        let config = Config {
            max_events: checker.conditions.max_events,
            timeouts: checker.conditions.timeouts,
            panics_fail: checker.conditions.panics_fail,
            waiting_after_main: checker.conditions.waiting_after_main,
            ..Config::default()
        };
        let saved = match &checker.resume {
            Some(path) => Some(State::load(path, &Task::of(&checker))?),
            None => None,
        };
        let (model, strategy, tally, failures, elapsed_before_s) = match saved {
            None => {
                let strategy = checker.algorithm.strategy(checker.options);
                (
                    Model::new(config, program),
                    strategy,
                    Tally::default(),
                    Failures::default(),
                    0.0,
                )
            }
            Some(state) => {
                let strategy = checker.algorithm.resume(checker.options, &state.strategy);
                let strategy = strategy.map_err(|error| CheckError::Unreadable {
                    path: checker.resume.clone().unwrap_or_default(),
                    reason: error.to_string(),
                })?;
                let model = Model::with_names(config, state.names.into_owned(), program);
                let failures = state.failures.into_owned();
                (
                    model,
                    strategy,
                    state.tally.into_owned(),
                    failures,
                    state.elapsed_s,
                )
            }
        };
        Ok(Search {
            checker,
            model,
            strategy,
            tally,
            failures,
            halt: None,
            started: Instant::now(),
            elapsed_before_s,
            looked_at: 0,
        })
    }

    /// Explores until there is nothing left, a bug is found or a limit is reached.
    pub fn run(mut self) -> Result<Report, CheckError> {
        let path = self.checker.checkpoint.clone();
        let mut checkpoint = path.as_deref().map(Checkpoint::new);
        while self.goes_on() && self.next_execution()? {
            if let Some(checkpoint) = &mut checkpoint {
                checkpoint.save(&self.state())?;
            }
        }
        self.report()
    }

    /// Runs one saved schedule instead.
    pub fn replay(mut self, saved: &ScheduleFile) -> Result<Report, CheckError> {
        let schedule = self.model.names_mut().load(&saved.steps);
        let schedule = schedule.map_err(|error| CheckError::Misfit(error.to_string()))?;
        let mut ended = UntilEnded::default();
        let execution = loop {
            let mut replay = Replay::new(schedule.clone());
            match explore::explore(&mut self.model, &mut replay, &mut ended) {
                Ok(_) => break replay.execution().clone(),
                Err(Interrupt::Coarsened) => {}
                Err(interrupt) => return Err(misfit(interrupt)),
            }
        };
        let outcome = ended.0.expect("a replay runs one execution");
        self.tally.count(outcome, execution.len());
        self.halt = Some(Limit::Replay);
        let mut errors = Vec::new();
        if outcome.is_bug() {
            let symptom = symptom_of(&self.model);
            errors.push(self.shown(symptom, 1, execution.schedule())?);
        }
        Ok(self.report_of(errors))
    }

    /// Whether another execution is wanted.
    fn goes_on(&mut self) -> bool {
        if self.halt.is_some() || (!self.failures.is_empty() && !self.checker.keeps_going) {
            return false;
        }
        self.halt = self.limit();
        self.halt.is_none()
    }

    fn limit(&mut self) -> Option<Limit> {
        if self
            .checker
            .stop
            .as_ref()
            .is_some_and(|stop| stop.load(Relaxed))
        {
            return Some(Limit::Stop);
        }
        if self
            .checker
            .limit()
            .is_some_and(|limit| self.tally.runs() >= limit)
        {
            // Nothing is cut off if nothing is left.
            return self.strategy.backtrack().then_some(Limit::Executions);
        }
        let limit = self.checker.time_limit?;
        if self.tally.events < self.looked_at + EVENTS_BETWEEN_LOOKS {
            return None;
        }
        self.looked_at = self.tally.events;
        (self.elapsed_s() >= limit.as_secs_f64()).then_some(Limit::Time)
    }

    /// Runs one execution; false if there is none left.
    fn next_execution(&mut self) -> Result<bool, CheckError> {
        let mut ended = UntilEnded::default();
        match explore::explore(&mut self.model, &mut self.strategy, &mut ended) {
            Ok(_) => {}
            Err(Interrupt::Diverged(divergence)) => {
                return Err(CheckError::Nondeterministic(divergence));
            }
            Err(Interrupt::Coarsened) => {
                self.restart();
                return Ok(true);
            }
        }
        let Some(outcome) = ended.0 else {
            return Ok(false);
        };
        self.count(outcome);
        if self
            .checker
            .observer
            .ended(outcome, &*self.strategy)
            .is_break()
        {
            self.halt = Some(Limit::Observer);
        }
        Ok(true)
    }

    /// From the start, with the objects as coarse as they are known to be by now.
    fn restart(&mut self) {
        self.strategy = self.checker.algorithm.strategy(self.checker.options);
        self.tally = Tally::default();
        self.failures = Failures::default();
        self.looked_at = 0;
        self.checker.observer.restarted();
    }

    fn count(&mut self, outcome: Outcome) {
        self.tally.count(outcome, self.strategy.execution().len());
        if outcome == Outcome::Halted {
            self.tally
                .bounds
                .extend(self.model.pending().iter().filter_map(bound_of));
        }
        if !outcome.is_bug() {
            return;
        }
        let symptom = symptom_of(&self.model);
        if !self.failures.contains(&symptom) {
            let schedule = self.strategy.execution().schedule();
            let execution = self.tally.runs();
            self.failures.sightings.push(Sighting {
                symptom,
                execution,
                schedule,
            });
        }
    }

    fn state(&self) -> State<'_> {
        State {
            task: Task::of(&self.checker),
            tally: Cow::Borrowed(&self.tally),
            failures: Cow::Borrowed(&self.failures),
            names: Cow::Borrowed(self.model.names()),
            strategy: self.strategy.save(),
            elapsed_s: self.elapsed_s(),
        }
    }

    fn elapsed_s(&self) -> f64 {
        self.elapsed_before_s + self.started.elapsed().as_secs_f64()
    }

    fn report(mut self) -> Result<Report, CheckError> {
        let sightings = std::mem::take(&mut self.failures.sightings);
        let mut errors = Vec::new();
        for sighting in sightings {
            errors.push(self.failure(sighting)?);
        }
        if let (Some(path), Some(first)) = (&self.checker.schedule_file, errors.first_mut()) {
            first
                .schedule
                .save(path)
                .map_err(|error| CheckError::Unwritable {
                    path: path.clone(),
                    reason: error.problem.to_string(),
                })?;
            first.saved_as = Some(path.display().to_string());
        }
        Ok(self.report_of(errors))
    }

    fn report_of(&self, errors: Vec<Failure>) -> Report {
        let bounds = self.bounds();
        Report {
            verdict: match (errors.is_empty(), bounds.is_empty()) {
                (false, _) => Verdict::Bug,
                (true, false) => Verdict::Bounded,
                (true, true) => Verdict::Verified,
            },
            program: self.checker.name.clone(),
            executions: self.tally.executions,
            halted: self.tally.halted,
            blocked: self.tally.blocked,
            cut: self.tally.cut,
            deadlocks: self.tally.deadlocks,
            errors,
            bounds,
            events: self.tally.events,
            max_depth: self.tally.max_depth,
            algorithm: self.checker.algorithm,
            elapsed_s: self.elapsed_s(),
            peak_rss_bytes: peak_rss_bytes(),
        }
    }

    /// Why the search is not complete.
    fn bounds(&self) -> Vec<String> {
        let mut bounds = Vec::new();
        match self.halt {
            None => {}
            Some(Limit::Executions) => {
                let limit = self.checker.limit().unwrap_or(0);
                bounds.push(format!("stopped after {limit} executions"));
            }
            Some(Limit::Time) => {
                let limit = self.checker.time_limit.unwrap_or_default();
                bounds.push(format!("stopped after {limit:?}"));
            }
            Some(Limit::Stop) => bounds.push("interrupted".to_owned()),
            Some(Limit::Observer) => bounds.push("stopped by an observer".to_owned()),
            Some(Limit::Replay) => bounds.push("one schedule was repeated".to_owned()),
        }
        if !self.checker.algorithm.proves() {
            bounds.push(format!(
                "{} tries executions and proves nothing",
                self.checker.algorithm
            ));
        }
        bounds.extend(self.tally.bounds.iter().map(|&bound| self.bound(bound)));
        bounds
    }

    fn bound(&self, bound: Bound) -> String {
        let limit = match bound {
            Bound::Preemptions => self.checker.options.preemptions.unwrap_or(0),
            Bound::Events => self.checker.conditions.max_events,
            Bound::Timeouts => self.checker.conditions.timeouts,
        };
        format!("at most {limit} {}", bound_name(bound))
    }

    /// The failure with the execution that shows it, the threads' turns grouped if that still shows it.
    fn failure(&mut self, sighting: Sighting) -> Result<Failure, CheckError> {
        let Sighting {
            symptom,
            execution,
            schedule,
        } = sighting;
        let schedule = self.grouped(&schedule, &symptom)?.unwrap_or(schedule);
        self.shown(symptom, execution, schedule)
    }

    /// The failure with the execution of this schedule.
    fn shown(
        &mut self,
        symptom: Symptom,
        execution: u64,
        schedule: Schedule,
    ) -> Result<Failure, CheckError> {
        let trace = self.model.trace(&schedule).map_err(misfit)?;
        Ok(Failure {
            kind: symptom.kind,
            schedule: self.file(&symptom, &schedule),
            message: symptom.message,
            location: symptom.location,
            execution,
            saved_as: None,
            repeat_with: None,
            interleaving: trace.interleaving,
        })
    }

    /// An equivalent schedule with fewer context switches that shows the same, if there is one.
    fn grouped(
        &mut self,
        schedule: &Schedule,
        symptom: &Symptom,
    ) -> Result<Option<Schedule>, CheckError> {
        let mut replay = Replay::new(schedule.clone());
        explore::explore(&mut self.model, &mut replay, &mut UntilEnded::default())
            .map_err(misfit)?;
        let failed = self
            .model
            .pending()
            .iter()
            .position(|thread| *thread == Pending::Failed);
        let grouped = with_few_switches(replay.execution(), failed.map(ThreadId::from_index));
        if switches(&grouped) >= switches(schedule) {
            return Ok(None);
        }
        let mut replay = Replay::new(grouped.clone());
        let mut ended = UntilEnded::default();
        let run = explore::explore(&mut self.model, &mut replay, &mut ended);
        let shows_it = run.is_ok()
            && ended.0.is_some_and(Outcome::is_bug)
            && symptom_of(&self.model) == *symptom;
        Ok(shows_it.then_some(grouped))
    }

    fn file(&self, symptom: &Symptom, schedule: &Schedule) -> ScheduleFile {
        ScheduleFile {
            program: self.checker.name.clone(),
            kind: symptom.kind,
            message: symptom.message.clone(),
            conditions: self.checker.conditions,
            steps: self.model.names().save(schedule),
        }
    }
}

/// The bound at which a thread stopped.
fn bound_of(thread: &Pending) -> Option<Bound> {
    match *thread {
        Pending::Halted(Halt::Bound(bound)) => Some(bound),
        Pending::Halted(Halt::Assume | Halt::Await)
        | Pending::Unborn
        | Pending::Enabled(_)
        | Pending::Waiting(_)
        | Pending::Failed
        | Pending::Finished => None,
    }
}

/// What went wrong in the execution at hand.
fn symptom_of(model: &Model) -> Symptom {
    let shown = model
        .failure()
        .expect("an outcome that is a bug has a failure");
    Symptom {
        kind: shown.kind,
        message: shown.message,
        location: shown.location,
    }
}

/// A schedule that the program does not follow.
fn misfit(interrupt: Interrupt) -> CheckError {
    match interrupt {
        Interrupt::Diverged(divergence) => CheckError::misfit(&divergence),
        Interrupt::Coarsened => CheckError::Misfit(interrupt.to_string()),
    }
}
