//! A search from its start, or from a checkpoint, to its report.

use super::checkpoint::{Checkpoint, State, Task};
use super::failures::{Failures, Sighting, Symptom};
use super::stopwatch::Stopwatch;
use super::tally::Tally;
use super::{CheckError, Checker};
use explore::{Bound, Halt, Interrupt, Observer, Outcome, Pending, Program, Replay, Strategy};
use report::{Report, ScheduleFile};
use runtime::{Config, Model};
use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering::Relaxed;

/// A search under way.
pub(super) struct Search {
    pub(super) checker: Checker,
    pub(super) model: Model,
    strategy: Box<dyn Strategy>,
    pub(super) tally: Tally,
    pub(super) failures: Failures,
    /// Why the search ended before it was done.
    pub(super) halt: Option<Limit>,
    pub(super) stopwatch: Stopwatch,
}

/// Why a search ended before it was done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Limit {
    Executions,
    Time,
    Stop,
    Observer,
    /// A value that is raced for is not the same after the same steps.
    Race,
    Replay,
}

/// Ends [`explore::explore()`] after one execution.
#[derive(Default)]
pub(super) struct UntilEnded {
    /// How the execution ended; none if there was none.
    pub(super) outcome: Option<Outcome>,
    has_restarted: bool,
}

impl Observer for UntilEnded {
    fn ended(&mut self, outcome: Outcome, _strategy: &dyn Strategy) -> ControlFlow<()> {
        self.outcome = Some(outcome);
        ControlFlow::Break(())
    }

    fn restarted(&mut self) {
        self.has_restarted = true;
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
            Some((state, strategy)) => {
                let strategy = checker.algorithm.resume(checker.options, &strategy);
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
            stopwatch: Stopwatch::start(elapsed_before_s),
        })
    }

    /// Explores until there is nothing left, a bug is found or a limit is reached.
    pub fn run(mut self) -> Result<Report, CheckError> {
        let path = self.checker.checkpoint.clone();
        let mut checkpoint = path.as_deref().map(Checkpoint::new);
        self.save(&mut checkpoint)?;
        while self.goes_on() && self.next_execution()? {
            self.save(&mut checkpoint)?;
        }
        self.report()
    }

    fn save(&self, checkpoint: &mut Option<Checkpoint<'_>>) -> Result<(), CheckError> {
        match checkpoint {
            Some(checkpoint) => checkpoint.save(&self.state(), &self.strategy.save()),
            None => Ok(()),
        }
    }

    /// Runs one saved schedule instead.
    pub fn replay(mut self, saved: &ScheduleFile) -> Result<Report, CheckError> {
        let names = self.model.names_mut();
        let coarse = names.load_coarse(&saved.coarse);
        let schedule = coarse.and_then(|()| names.load(&saved.steps));
        let schedule = schedule.map_err(|error| CheckError::Misfit(error.to_string()))?;
        let mut ended = UntilEnded::default();
        let execution = loop {
            let mut replay = Replay::new(schedule.clone());
            match explore::explore(&mut self.model, &mut replay, &mut ended) {
                Ok(_) => break replay.execution().clone(),
                Err(Interrupt::Coarsened) => {}
                Err(Interrupt::Diverged(divergence)) => {
                    return Err(CheckError::misfit(&divergence));
                }
                Err(Interrupt::Incomparable) => return Err(self.incomparable()),
            }
        };
        let outcome = ended.outcome.expect("a replay runs one execution");
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
        self.stopwatch.is_over(limit).then_some(Limit::Time)
    }

    /// Runs one execution; false if there is none left.
    fn next_execution(&mut self) -> Result<bool, CheckError> {
        let mut ended = UntilEnded::default();
        match explore::explore(&mut self.model, &mut self.strategy, &mut ended) {
            Ok(_) => {}
            Err(Interrupt::Coarsened) => {
                self.strategy = self.checker.algorithm.strategy(self.checker.options);
                self.forget();
                return Ok(true);
            }
            Err(Interrupt::Diverged(_)) if self.failures.contain_a_race() => {
                self.halt = Some(Limit::Race);
                return Ok(false);
            }
            Err(Interrupt::Incomparable) => return Err(self.incomparable()),
            Err(interrupt) => return Err(diverged(interrupt)),
        }
        if ended.has_restarted {
            self.forget();
        }
        let Some(outcome) = ended.outcome else {
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

    /// The algorithm compares states, and the program has none to compare.
    fn incomparable(&self) -> CheckError {
        CheckError::Incomparable {
            algorithm: self.checker.algorithm,
            opaque: self.model.opaque(),
        }
    }

    /// The search begins again: with coarser objects, or because the strategy wants it.
    fn forget(&mut self) {
        self.tally = Tally::default();
        self.failures = Failures::default();
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
            elapsed_s: self.stopwatch.elapsed_s(),
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
pub(super) fn symptom_of(model: &Model) -> Symptom {
    Symptom::of(
        model
            .failure()
            .expect("an outcome that is a bug has a failure"),
    )
}

/// Why an execution that this process has seen cannot be repeated.
pub(super) fn diverged(interrupt: Interrupt) -> CheckError {
    match interrupt {
        Interrupt::Diverged(divergence) => CheckError::Nondeterministic(divergence),
        Interrupt::Coarsened | Interrupt::Incomparable => CheckError::Misfit(interrupt.to_string()),
    }
}
