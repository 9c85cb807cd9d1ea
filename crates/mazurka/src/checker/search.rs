//! A search, from its start or a checkpoint to its report.
//!
//! A search starts with optimistic assumptions about the program, for example that some operations
//! of an object are independent. If an execution contradicts an assumption
//! ([`Interrupt::Coarsened`]), the search starts again without it. In the example, the object has
//! become *coarser*: more of its operations count as dependent.

use super::audit::Samples;
use super::brake::{Brake, Braked};
use super::checkpoint::{Checkpoint, State, Task};
use super::coverage::{Covered, Seen};
use super::error::describe_divergence;
use super::failures::{Failures, Sighting, Symptom};
use super::refit::refit;
use super::settings::Settings;
use super::tally::Tally;
use super::unhinted_spin::Spin;
use super::{CheckError, Checker};
use explore::{
    Bound, Execution, Halt, Interrupt, MemoryModel, Observer, Outcome, Pending, Program, Replay,
    Schedule, Step, Strategy, Symmetric, Symmetry,
};
use report::{FailureKind, Limit, Report, Restart, Sighted, Trail};
use runtime::Model;
use std::borrow::Cow;
use std::ops::ControlFlow;

/// A search in progress.
pub(super) struct Search {
    pub(super) settings: Settings,
    pub(super) observer: Box<dyn Observer>,
    pub(super) model: Model,
    pub(super) symmetry: Symmetry,
    pub(super) strategy: Box<dyn Strategy>,
    pub(super) tally: Tally,
    /// Number of executions in earlier parts of the search.
    pub(super) earlier: u64,
    pub(super) failures: Failures,
    /// The reason why the search ended early.
    pub(super) halt: Option<Limit>,
    pub(super) brake: Brake,
    pub(super) trail: Option<Trail>,
    /// Whether a data race may affect the behaviour of the program.
    pub(super) is_raced_for: bool,
    pub(super) covered: Covered,
    /// The coverage of other jobs.
    pub(super) elsewhere: Seen,
    /// The executions to be audited.
    pub(super) samples: Samples,
    /// Whether an execution has already differed from the first one.
    pub(super) has_diverged: bool,
    /// The first execution since the search last started again, and its outcome.
    pub(super) first: Option<(Execution, Outcome)>,
    /// A thread that spins without a hint.
    pub(super) spin: Option<Spin>,
    /// Whether the last execution was broken off.
    pub(super) is_broken_off: bool,
    pub(super) beginning: Beginning,
    /// Executions after the first failure.
    pub(super) extra: u64,
    /// The shortest extra execution that fails in the same way, if it is shorter than the first.
    pub(super) shortest: Option<Sighting>,
}

/// The result of the next execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Next {
    /// The execution ended.
    Ended(Outcome),
    /// The search starts again, with more knowledge than before.
    BegunAnew,
    /// There is no execution left, or the execution was stopped.
    Nothing,
}

/// The beginning of the last execution.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Beginning {
    /// Number of events shared with the previous execution.
    pub kept: usize,
    /// Whether the strategy discarded what it had explored.
    pub has_restarted: bool,
}

/// Ends [`explore::explore()`] after one execution.
#[derive(Default)]
pub(super) struct UntilEnded {
    /// The outcome of the execution, if there was one.
    pub(super) outcome: Option<Outcome>,
    /// Whether the strategy discarded what it had explored.
    pub(super) has_restarted: bool,
    /// Number of probes (runs outside the exploration).
    probes: u64,
    /// The schedules of probes that failed.
    failed_probes: Vec<Schedule>,
}

impl Observer for UntilEnded {
    fn ended(&mut self, outcome: Outcome, _strategy: &dyn Strategy) -> ControlFlow<()> {
        self.outcome = Some(outcome);
        ControlFlow::Break(())
    }

    fn probed(&mut self, prefix: &[Step], more: &[Step], has_failed: bool) {
        self.probes += 1;
        if has_failed {
            self.failed_probes.push([prefix, more].concat());
        }
    }

    fn restarted(&mut self) {
        self.has_restarted = true;
    }
}

impl Search {
    /// Creates a new search, or a resumed one if the settings name a checkpoint.
    pub fn new(checker: Checker, program: impl Fn() + 'static) -> Result<Search, CheckError> {
        let saved = State::of(&checker.settings)?;
        Search::from(checker, saved, program)
    }

    /// Creates a new search, or resumes one from this state and the saved data of its strategy.
    pub fn from(
        checker: Checker,
        saved: Option<(State<'static>, Vec<u8>)>,
        program: impl Fn() + 'static,
    ) -> Result<Search, CheckError> {
        let Checker {
            mut settings,
            observer,
        } = checker;
        let Some((state, strategy)) = saved else {
            let config = settings.config.clone();
            let strategy = settings.algorithm.strategy(settings.options());
            let model = Model::new(config, program);
            return Search::of(settings, observer, model, strategy, 0.0);
        };
        settings.adopt(&state.names);
        let strategy = resumed(&settings, &strategy)?;
        let config = settings.model_config();
        let mut model = Model::with_names(config, state.names.into_owned(), program);
        model.warned(state.warnings);
        model.leave_out(state.left_out);
        model.set_goals(state.goals.into_owned());
        model.add_suppressed(state.suppressed);
        let mut search = Search::of(settings, observer, model, strategy, state.elapsed_s)?;
        search.tally = state.tally.into_owned();
        search.failures = state.failures.into_owned();
        search.leave_trail();
        Ok(search)
    }

    /// Creates a search without results that has already taken `before_s` seconds.
    pub fn of(
        settings: Settings,
        observer: Box<dyn Observer>,
        mut model: Model,
        strategy: Box<dyn Strategy>,
        before_s: f64,
    ) -> Result<Search, CheckError> {
        model.suppress(settings.suppressions.clone());
        let brake = Brake::new(settings.time_limit, settings.stops.clone(), before_s);
        let trail = settings.trail_words()?.map(Trail::new);
        let covered = Covered::of(settings.algorithm, 0);
        let mut search = Search {
            settings,
            observer,
            model,
            symmetry: Symmetry::default(),
            strategy,
            tally: Tally::default(),
            earlier: 0,
            failures: Failures::default(),
            halt: None,
            brake,
            trail,
            is_raced_for: false,
            covered,
            elsewhere: Seen::default(),
            samples: Samples::default(),
            has_diverged: false,
            first: None,
            spin: None,
            is_broken_off: false,
            beginning: Beginning::default(),
            extra: 0,
            shortest: None,
        };
        search.leave_trail();
        Ok(search)
    }

    /// Returns the coverage.
    pub(super) fn seen(&self) -> Seen {
        let mut seen = self.covered.seen(&self.model);
        seen.add(self.elsewhere.clone());
        seen
    }

    /// Explores until nothing is left, a bug is found or a limit is reached.
    pub fn run(mut self) -> Result<Report, CheckError> {
        let mut checkpoint = self.settings.checkpoint.clone().map(Checkpoint::new);
        self.save(&mut checkpoint)?;
        loop {
            let mut unsaved = 0;
            while self.continues() && self.next_execution()? != Next::Nothing {
                unsaved += 1;
                let is_due = checkpoint.as_ref().is_some_and(Checkpoint::is_due);
                if is_due && unsaved >= self.settings.checkpoint_interval {
                    self.save(&mut checkpoint)?;
                    unsaved = 0;
                }
            }
            // In the middle of an execution, a strategy has no state to resume from.
            if unsaved > 0 && !self.is_broken_off {
                self.save(&mut checkpoint)?;
            }
            self.judge_limit();
            let has_failed = !self.failures.is_empty();
            self.shorten()?;
            if has_failed != self.failures.is_empty() {
                if self.repeat_first()? {
                    continue;
                }
                let mut report = self.take_report()?;
                let unsaved = checkpoint.as_ref().and_then(Checkpoint::unsaved);
                report.warnings.extend(unsaved);
                return Ok(report);
            }
        }
    }

    fn save(&self, checkpoint: &mut Option<Checkpoint>) -> Result<(), CheckError> {
        match checkpoint {
            Some(checkpoint) => checkpoint.save(&self.state(), &self.strategy.save()),
            None => Ok(()),
        }
    }

    /// Checks whether to run another execution.
    pub(super) fn continues(&mut self) -> bool {
        !self.is_done_with_bugs() && self.limit_is_left()
    }

    /// Clears the limit if no execution is left. The strategy cannot be used afterwards.
    fn judge_limit(&mut self) {
        let is_between_executions = !self.is_broken_off && !self.is_done_with_bugs();
        if is_between_executions && self.halt.is_some() && !self.strategy.backtrack() {
            self.halt = None;
        }
    }

    /// Checks whether a failure was found that ends the search.
    pub(super) fn is_done_with_bugs(&self) -> bool {
        let mut sightings = self.failures.sightings.iter();
        sightings.any(|sighting| self.settings.ends_after(sighting.symptom.kind))
    }

    /// Checks whether no limit is reached. If a limit is reached, sets `halt`.
    pub(super) fn limit_is_left(&mut self) -> bool {
        self.halt = self.halt.or_else(|| self.limit());
        self.halt.is_none()
    }

    fn limit(&mut self) -> Option<Limit> {
        let limit = self.settings.limit();
        match limit.is_some_and(|limit| self.tally.runs() >= limit) {
            true => Some(Limit::Executions),
            false => self.brake.pulled().or_else(|| self.spins_too_long()),
        }
    }

    /// Runs one execution.
    pub(super) fn next_execution(&mut self) -> Result<Next, CheckError> {
        let mut ended = UntilEnded::default();
        let is_compared = (self.earlier + self.tally.runs() + 1).is_power_of_two();
        let mut program = Braked {
            model: &mut self.model,
            brake: &mut self.brake,
            trail: self.trail.as_mut(),
            // Coverage counts races, which only a search over interleavings finds.
            covered: (!self.settings.is_weak()).then_some(&self.covered),
            kept: None,
            is_sampled: false,
        };
        if is_compared {
            program.model.begin_comparing();
        }
        let result = match self.settings.uses_symmetry() {
            true => {
                let mut program = Symmetric::new(&mut program, &mut self.symmetry);
                explore::explore(&mut program, &mut self.strategy, &mut ended)
            }
            false => explore::explore(&mut program, &mut self.strategy, &mut ended),
        };
        let (kept, is_sampled) = (program.kept.unwrap_or(0), program.is_sampled);
        self.model.end_sampling();
        self.model.end_comparing();
        self.tally.probes += ended.probes;
        if self.strategy.leaves_out() {
            self.tally.bounds.insert(Bound::Preemptions);
        }
        if let Err(interrupt) = result {
            return Ok(match self.broken_off(interrupt)? {
                true => Next::BegunAnew,
                false => Next::Nothing,
            });
        }
        if ended.has_restarted {
            self.restart(None);
        }
        let Some(outcome) = ended.outcome else {
            return Ok(Next::Nothing);
        };
        self.beginning = Beginning {
            kept,
            has_restarted: ended.has_restarted,
        };
        self.covered.count(self.strategy.execution());
        if is_sampled {
            let execution = self.strategy.execution();
            self.covered.take_up(execution, kept, &self.model.sample());
        }
        self.count(outcome);
        if self.first.is_none() && outcome.is_maximal() {
            self.first = Some((self.strategy.execution().clone(), outcome));
        }
        if self.needs_weaker_memory() || self.tells_twins_apart() {
            self.broken_off(Interrupt::Coarsened)?;
            return Ok(Next::BegunAnew);
        }
        self.leaves_out_in_a_search()?;
        for schedule in ended.failed_probes {
            self.reproduce_bug(schedule)?;
        }
        if self.compare_orders(outcome)? {
            return Ok(Next::BegunAnew);
        }
        if self.observer.ended(outcome, &*self.strategy).is_break() {
            self.halt = Some(Limit::Observer);
        }
        Ok(Next::Ended(outcome))
    }

    /// Checks whether the last execution shows that threads must not be exchanged.
    fn tells_twins_apart(&mut self) -> bool {
        self.settings.uses_symmetry() && !self.is_done_with_bugs() && self.model.tells_twins_apart()
    }

    /// Checks whether the last execution shows that the memory model must be weaker. If the search
    /// must stay sequentially consistent, it continues with a warning.
    fn needs_weaker_memory(&mut self) -> bool {
        if self.is_done_with_bugs() {
            return false;
        }
        let Some(place) = self.model.weak_ordering(self.strategy.execution()) else {
            return false;
        };
        let weakens = self.settings.may_weaken();
        if weakens {
            self.model.choose_memory(MemoryModel::Rc11, place);
        } else {
            self.model.warned(vec![format!(
                "the ordering at {place} is not sequentially consistent, but the search assumes sequential consistency"
            )]);
            self.model.stay_sequentially_consistent(place);
            self.settings.adopt(self.model.names());
        }
        weakens
    }

    /// Rejects random algorithms, which may run any interleaving, if the program leaves some out.
    fn leaves_out_in_a_search(&self) -> Result<(), CheckError> {
        match self.model.has_left_out() && !self.settings.algorithm.proves() {
            true => Err(CheckError::Contradiction(
                "the program leaves out interleavings (stop_exploring, skip_branch), but random and pct may run any \
                 interleaving; choose another algorithm or remove these calls",
            )),
            false => Ok(()),
        }
    }

    /// Creates the error for an algorithm that compares states, for a program that reports none.
    fn incomparable(&self) -> CheckError {
        CheckError::Incomparable {
            algorithm: self.settings.algorithm,
            opaque: self.model.opaque(),
        }
    }

    /// Handles an execution that was broken off. Returns whether the search continues.
    pub(super) fn broken_off(&mut self, interrupt: Interrupt) -> Result<bool, CheckError> {
        match interrupt {
            Interrupt::Stopped => {
                self.is_broken_off = true;
                self.halt = self.brake.pulled();
            }
            Interrupt::Diverged(divergence) if self.may_be_the_first(&divergence) => {
                self.has_diverged = true;
                return self.broken_off(Interrupt::Coarsened);
            }
            Interrupt::Coarsened => {
                let why = self.model.restart().unwrap_or(Restart::FirstExecution);
                self.refit_failures();
                self.strategy = self.settings.algorithm.strategy(self.settings.options());
                self.restart(Some(why));
                return Ok(true);
            }
            Interrupt::Diverged(_) if self.contains_a_race() || self.model.has_raced() => {
                self.is_broken_off = true;
                self.halt = Some(Limit::Race);
                if self.model.has_raced() {
                    let sighted = self.reproduce_bug(self.strategy.execution().schedule());
                    // After a race, a replay may diverge, too.
                    if !self.contains_a_race() {
                        sighted?;
                    }
                }
            }
            Interrupt::Incomparable => return Err(self.incomparable()),
            // After an unsupported operation, the program may behave differently from what the
            // search expects.
            Interrupt::Diverged(_) if self.model.has_failure(FailureKind::Unsupported) => {
                self.is_broken_off = true;
                self.sight(self.strategy.execution().schedule());
            }
            // Threads that synchronize outside the model may behave differently in another order of
            // the same graph.
            Interrupt::Diverged(divergence) if let Some(place) = self.weak_by_choice() => {
                let divergence = describe_divergence(&divergence);
                self.model
                    .hides(&format!("RC11 is not checked, because {divergence}"));
                self.model.choose_memory(MemoryModel::Sc, place);
                return self.broken_off(Interrupt::Coarsened);
            }
            Interrupt::Diverged(_) => return Err(diverged(interrupt)),
        }
        Ok(false)
    }

    /// Returns the place of the ordering for which the search has chosen a weak memory model, if
    /// the model is weak, the user did not choose it and the program is written in Rust.
    fn weak_by_choice(&self) -> Option<String> {
        if self.settings.config.native.is_some() {
            return None;
        }
        let chosen = self.model.names().chosen_memory();
        let chosen = chosen.filter(|(memory, _)| memory.is_weak());
        chosen.map(|(_, place)| place.to_owned())
    }

    /// Adopts the memory model that the search has chosen, and keeps the failures that repeat.
    fn refit_failures(&mut self) {
        loop {
            self.settings.adopt(self.model.names());
            self.model.set_memory(self.settings.memory_of_model());
            let mut sightings = self.failures.sightings.clone();
            sightings.retain_mut(|sighting| refit(sighting, &mut self.model));
            // The repetition itself may show that the program needs sequential consistency.
            let is_weak = self.settings.is_weak();
            self.settings.adopt(self.model.names());
            if self.settings.is_weak() == is_weak {
                self.failures.sightings = sightings;
                return;
            }
        }
    }

    /// Starts the search again, with coarser objects or because the strategy requires it. Keeps the
    /// failures that were found and the total number of executions.
    pub(super) fn restart(&mut self, why: Option<Restart>) {
        self.first = None;
        self.tally.restart(why);
        self.covered.restart();
        self.samples.restart();
        self.observer.restarted();
        self.leave_trail();
    }

    /// Writes the results of the search to the trail, for other processes. The trail records the
    /// current execution separately.
    fn leave_trail(&mut self) {
        let Some(trail) = &mut self.trail else {
            return;
        };
        let names = self.model.names();
        trail.set_coarse(names.save_coarse());
        trail.set_memory(self.settings.memory());
        trail.count(&self.tally.counts());
        let sighted = self.failures.sightings.iter().map(|sighting| Sighted {
            kind: sighting.symptom.kind,
            message: sighting.symptom.message.clone(),
            location: sighting.symptom.location.clone(),
            execution: sighting.execution,
            steps: names.save(&sighting.schedule),
        });
        trail.set_sighted(sighted.collect());
    }

    fn count(&mut self, outcome: Outcome) {
        self.tally.count(outcome, self.strategy.execution().len());
        if self.settings.config.native.is_some() {
            self.samples.take(self.strategy.execution());
        }
        if let Some(trail) = &mut self.trail {
            trail.count(&self.tally.counts());
        }
        if outcome == Outcome::Halted {
            self.tally
                .bounds
                .extend(self.model.pending().iter().filter_map(bound_of));
            self.find_spin();
        }
        if self.model.has_left_out() {
            self.tally.bounds.insert(Bound::Exploration);
        }
        if outcome.is_bug() {
            self.sight(self.strategy.execution().schedule());
        }
    }

    /// Runs a schedule to its end, because a probe failed there.
    fn reproduce_bug(&mut self, schedule: Schedule) -> Result<(), CheckError> {
        let mut replay = Replay::new(schedule);
        let mut ended = UntilEnded::default();
        explore::explore(&mut self.model, &mut replay, &mut ended).map_err(diverged)?;
        if ended.outcome.is_some_and(Outcome::is_bug) {
            self.sight(replay.execution().schedule());
        }
        Ok(())
    }

    /// Records the new failures of this execution: all of them with `keep_going`, otherwise one.
    pub(super) fn sight(&mut self, schedule: Schedule) {
        let symptoms = match self.settings.keeps_going {
            true => self.model.failures().into_iter().map(Symptom::of).collect(),
            false => vec![symptom_of(&self.model)],
        };
        let execution = self.tally.runs();
        for symptom in symptoms {
            // Deadlocks and leaks are known only after an execution, so suppressions apply here.
            let is_wanted = !self.model.suppresses(&symptom.shown());
            if is_wanted && !self.failures.contains(&symptom) {
                self.failures.sightings.push(Sighting {
                    symptom,
                    execution,
                    schedule: schedule.clone(),
                });
                self.leave_trail();
            }
        }
    }

    fn state(&self) -> State<'_> {
        State {
            task: Task::of(&self.settings),
            tally: Cow::Borrowed(&self.tally),
            failures: Cow::Borrowed(&self.failures),
            warnings: self.model.warnings(),
            left_out: self.model.left_out(),
            suppressed: self.model.suppressed(),
            goals: Cow::Borrowed(self.model.goals()),
            names: Cow::Borrowed(self.model.names()),
            elapsed_s: self.brake.elapsed_s(),
            parts: None,
            numbering: None,
            seen: Seen::default(),
        }
    }
}

/// Restores a strategy from its saved state.
pub(super) fn resumed(settings: &Settings, saved: &[u8]) -> Result<Box<dyn Strategy>, CheckError> {
    let strategy = settings.algorithm.resume(settings.options(), saved);
    strategy.map_err(|error| CheckError::Unreadable {
        path: settings.resume.clone().unwrap_or_default(),
        reason: error.to_string(),
    })
}

/// Returns the bound at which a thread stopped, or `None` if it did not stop at a bound.
pub(super) fn bound_of(thread: &Pending) -> Option<Bound> {
    match *thread {
        Pending::Halted(Halt::Bound(bound)) => Some(bound),
        Pending::Halted(Halt::Assume | Halt::Await)
        | Pending::NotStarted
        | Pending::Enabled(_)
        | Pending::Waiting(_)
        | Pending::Failed
        | Pending::Finished => None,
    }
}

/// Returns the failure of the current execution.
pub(super) fn symptom_of(model: &Model) -> Symptom {
    Symptom::of(
        model
            .failure()
            .expect("an outcome that is a bug has a failure"),
    )
}

/// Returns the error for an interrupt that occurs while this process repeats one of its executions.
pub(super) fn diverged(interrupt: Interrupt) -> CheckError {
    match interrupt {
        Interrupt::Diverged(divergence) => CheckError::Nondeterministic(divergence),
        Interrupt::Coarsened | Interrupt::Incomparable | Interrupt::Stopped => {
            CheckError::Misfit(interrupt.to_string())
        }
    }
}
