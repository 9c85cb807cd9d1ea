//! The results of a model's executions, for users.

use crate::engine::model::Model;
use crate::trace::failure::Wanted;
use crate::trace::{Described, Shown, Trace};
use crate::watch::snapshot::Opaque;
use explore::{Bound, Execution, Halt, Interrupt, Pending, Program, Schedule, ThreadId};
use report::{FailureKind, Goal, LeftOut, Restart, Suppressed, Suppression};

impl Model {
    /// Returns the name of a thread of the current execution for users.
    pub fn thread_name(&self, thread: ThreadId) -> String {
        self.engine().thread_name(thread)
    }

    /// Returns the failure of the current execution, if its outcome is a bug.
    pub fn failure(&self) -> Option<Shown> {
        self.engine().failure()
    }

    /// Describes for users the first thread that has reached the limit of operations, with the
    /// place of its last operation. Returns `None` if there is no such thread.
    pub fn thread_at_limit(&self) -> Option<String> {
        let engine = self.engine();
        let is_there = |thread: &&ThreadId| {
            engine.life.pending[thread.index()] == Pending::Halted(Halt::Bound(Bound::Events))
        };
        let &thread = engine.life.started.iter().find(is_there)?;
        let name = engine.thread_name(thread);
        Some(match engine.shown_place_of(thread) {
            Some(place) => format!("{name} at {place}"),
            None => name,
        })
    }

    /// Returns all failures of the current execution, if its outcome is a bug.
    pub fn failures(&self) -> Vec<Shown> {
        self.engine().all_failures()
    }

    /// Selects the failure that [`failure`](Model::failure) and traces report for executions with
    /// several.
    pub fn want_failure(&mut self, wanted: Option<Wanted>) {
        self.engine_mut().want_failure(wanted);
    }

    /// Suppresses these failures from now on.
    pub fn suppress(&mut self, suppressions: Vec<Suppression>) {
        self.engine_mut().guests.failures.suppressions = suppressions;
    }

    /// Checks whether the user has suppressed this failure, and records it as suppressed if so.
    pub fn suppresses(&mut self, shown: &Shown) -> bool {
        let failures = &mut self.engine_mut().guests.failures;
        failures.may_suppress() && failures.suppresses(shown, &[])
    }

    /// Returns the distinct failures that were suppressed.
    pub fn suppressed(&self) -> Vec<Suppressed> {
        self.engine()
            .guests
            .failures
            .suppressed
            .iter()
            .cloned()
            .collect()
    }

    /// Adds the suppressed failures of earlier executions of another model.
    pub fn add_suppressed(&mut self, suppressed: Vec<Suppressed>) {
        self.engine_mut()
            .guests
            .failures
            .suppressed
            .extend(suppressed);
    }

    /// Checks whether a data race was suppressed.
    pub fn has_suppressed_a_race(&self) -> bool {
        let mut all = self.engine().guests.failures.suppressed.iter();
        all.any(|suppression| suppression.kind == FailureKind::DataRace)
    }

    /// Checks whether interleavings were left out at the program's request
    /// ([`crate::stop_exploring`]).
    pub fn has_left_out(&self) -> bool {
        self.engine().guests.has_left_out
    }

    /// Returns the warnings: observations in the executions so far that are not failures.
    pub fn warnings(&self) -> Vec<String> {
        self.engine()
            .guests
            .warnings
            .borrow()
            .iter()
            .cloned()
            .collect()
    }

    /// Adds the warnings of earlier executions of another model.
    pub fn warned(&mut self, warnings: Vec<String>) {
        self.engine_mut().guests.warnings.get_mut().extend(warnings);
    }

    /// Returns the parts of the program's behaviour that the executions so far are known to have
    /// left out.
    pub fn left_out(&self) -> Vec<LeftOut> {
        self.engine()
            .guests
            .left_out
            .borrow()
            .iter()
            .cloned()
            .collect()
    }

    /// Adds the parts left out in earlier executions of another model.
    pub fn leave_out(&mut self, left_out: Vec<LeftOut>) {
        self.engine_mut().guests.left_out.get_mut().extend(left_out);
    }

    /// Returns why the current execution has no fingerprint (no state that can be compared), if it
    /// has none.
    pub fn opaque(&self) -> Option<Opaque> {
        self.engine().opaque()
    }

    /// Runs and records one schedule of operations, up to its end or the first step that does not
    /// fit.
    pub fn trace(&mut self, schedule: &Schedule) -> Result<Trace, Interrupt> {
        let execution = self.record(schedule)?;
        Ok(self.engine_mut().take_trace(&execution))
    }

    /// Describes the events of an execution of accesses for users. Events without a description are
    /// left out.
    pub fn describe(&mut self, execution: &Execution) -> Result<Vec<Described>, Interrupt> {
        let operations = self.refine(&execution.schedule())?;
        let operations = self.record(&operations)?;
        let described = self.engine_mut().described(execution, &operations);
        self.step_by_accesses();
        Ok(described)
    }

    /// Runs a schedule of operations and records it. All memory is watched meanwhile, so the
    /// program may turn out to have coarser objects than in the search. This does not change the
    /// steps.
    fn record(&mut self, schedule: &Schedule) -> Result<Execution, Interrupt> {
        self.step_by_operations();
        let engine = self.engine_mut();
        let before = (engine.watch, engine.guests.native.is_ordering);
        engine.watch.record(true);
        engine.watch_all_memory();
        let result = loop {
            self.engine_mut().guests.recorder.begin();
            match self.replay(schedule) {
                Err(Interrupt::Coarsened) => {}
                result => break result,
            }
        };
        let engine = self.engine_mut();
        (engine.watch, engine.guests.native.is_ordering) = before;
        result
    }

    /// Returns why the current execution made the exploration start again
    /// (`Interrupt::Coarsened`).
    pub fn restart(&self) -> Option<Restart> {
        self.engine().life.coarsened
    }

    /// Returns the goals. Each records whether an execution so far has reached it.
    pub fn goals(&self) -> &[Goal] {
        &self.engine().guests.goals
    }

    /// Replaces the goals with those known from earlier executions of another model.
    pub fn set_goals(&mut self, goals: Vec<Goal>) {
        self.engine_mut().guests.goals = goals;
    }

    /// Runs a schedule, up to its end or the first step that does not fit.
    fn replay(&mut self, schedule: &Schedule) -> Result<Execution, Interrupt> {
        let mut execution = Execution::default();
        self.reset();
        for &step in schedule {
            let request = match self.pending().get(step.thread.index()) {
                Some(Pending::Enabled(request)) => *request,
                // In the execution that the schedule comes from, a thread polls for the end of this
                // thread, so the end is a step. In this execution it is not, so the step is
                // skipped.
                Some(Pending::Finished) => continue,
                _ => break,
            };
            execution.push(step, &request, &self.step(step)?);
        }
        Ok(execution)
    }
}
