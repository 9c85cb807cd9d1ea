//! Repeats the events of an execution. All steps are known in advance, so a thread that has the
//! next step, too, performs it without a switch to the model and back.

use crate::engine::granularity::StepGranularity;
use crate::engine::guest::Guest;
use crate::engine::model::Model;
use crate::guests::Guests;
use explore::{EventId, Execution, Interrupt, Program};
use std::ptr;

impl Model {
    /// Begins an execution with these events. `returns` is true if more executions will begin with
    /// these events.
    pub(crate) fn begin_with(
        &mut self,
        execution: &Execution,
        returns: bool,
    ) -> Result<(), Interrupt> {
        if Guests::find_savepoint(self.engine_mut(), execution) {
            if !self.engine().is_quiet() {
                self.tear_down();
            }
            Guests::prepare(self.engine_mut());
            Guests::restore(self.engine_mut());
        } else {
            self.reset();
            Guests::save(self.engine_mut());
        }
        if self.engine().is_coarsened() {
            return Err(Interrupt::Coarsened);
        }
        while let Some(middle) = Guests::next_savepoint(self.engine(), execution, returns) {
            self.follow(execution, middle)?;
            if !Guests::save(self.engine_mut()) {
                break;
            }
        }
        self.follow(execution, execution.len())
    }

    /// Performs the events of an execution that has begun, up to event `end`.
    fn follow(&mut self, execution: &Execution, end: usize) -> Result<(), Interrupt> {
        // If memory is compared, this happens where the model resumes a thread. So every step then
        // needs a switch.
        let runs_on = !self.engine().watch.compares;
        if runs_on && self.engine().granularity == StepGranularity::Accesses {
            self.engine_mut().script = execution;
            self.engine_mut().script_end = end;
        }
        let result = self.repeat_steps(execution, end);
        self.engine_mut().script = ptr::null();
        result
    }

    fn repeat_steps(&mut self, execution: &Execution, end: usize) -> Result<(), Interrupt> {
        while let at @ EventId(number) = self.engine().event()
            && (number as usize) < end
        {
            self.advance(execution.event(at).step)?;
            self.engine().follows(execution)?;
        }
        Ok(())
    }
}
