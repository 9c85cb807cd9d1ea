//! Repetition of the events of an execution. The following steps are known, so a thread whose step
//! is next performs it without a switch to the model and back.

use crate::engine::Engine;
use crate::engine::granularity::StepGranularity;
use crate::engine::model::Model;
use explore::{Divergence, EventId, Execution, Interrupt, Program};
use std::ptr;

impl Model {
    /// Begins an execution with these events. `returns` is true if more executions will begin with
    /// these events.
    pub(crate) fn begin_with(
        &mut self,
        execution: &Execution,
        returns: bool,
    ) -> Result<(), Interrupt> {
        match self.engine().config.native {
            Some(_) => self.begin_at_savepoint(execution),
            None => self.reset(),
        }
        if self.engine().is_coarsened() {
            return Err(Interrupt::Coarsened);
        }
        while let Some(middle) = self.next_savepoint(execution, returns) {
            self.follow(execution, middle)?;
            if !self.engine_mut().save() {
                break;
            }
        }
        self.follow(execution, execution.len())
    }

    /// Performs the events of the execution, which has begun, up to event `end`.
    fn follow(&mut self, execution: &Execution, end: usize) -> Result<(), Interrupt> {
        // Comparisons need every step.
        let runs_on = !self.engine().watch.compares;
        if runs_on && self.engine().granularity == StepGranularity::Accesses {
            self.engine_mut().script = execution;
            self.engine_mut().script_end = end;
        }
        let result = self.go_on(execution, end);
        self.engine_mut().script = ptr::null();
        result
    }

    fn go_on(&mut self, execution: &Execution, end: usize) -> Result<(), Interrupt> {
        while let at @ EventId(number) = self.engine().event()
            && (number as usize) < end
        {
            self.move_on(execution.event(at).step)?;
            self.engine().follows(execution)?;
        }
        Ok(())
    }
}

impl Engine {
    /// Begins the step of the running thread, which has announced its operation, if the current
    /// execution is repeated and this operation is next. Returns whether the step has begun.
    #[inline(always)]
    pub(crate) fn runs_on(&mut self) -> bool {
        !self.script.is_null() && self.may_go_on() && self.runs_on_in_script()
    }

    #[inline(never)]
    fn runs_on_in_script(&mut self) -> bool {
        // SAFETY: `Model::repeat` holds a reference to the execution while `script` points to it.
        let script = unsafe { &*self.script };
        let thread = self.running;
        let next = self.life.events as usize + 1;
        // Other threads that can run do so first, as in the first execution.
        if !self.life.is_in_event || self.has_ready() || next >= self.script_end {
            return false;
        }
        let next = script.event(EventId::at(next)).step;
        if next.thread != thread {
            return false;
        }
        self.end_step(thread);
        !self.is_coarsened()
            && !self.has_ready()
            && self.follows(script).is_ok()
            && self.begin_step(next).is_some()
    }

    /// Checks whether the last event is that of the script.
    pub(crate) fn follows(&self, script: &Execution) -> Result<(), Divergence> {
        let last = EventId(self.life.events - 1);
        let event = script.event(last);
        event.must_be(last, self.op, (self.before, self.after))
    }
}
