//! Turns schedules of accesses into schedules of all operations ([`Model::refine`]). Traces for
//! users show spawns and waits, which searches perform as parts of other steps.

use crate::engine::Engine;
use crate::engine::granularity::StepGranularity;
use crate::engine::model::Model;
use explore::{
    Access, EventId, Interrupt, OpKind, Pending, Program, ReadsFrom, Schedule, Step, ThreadId,
};
use report::FailureKind;

impl Model {
    /// Makes every operation a step from the next execution on. By default, operations that commute
    /// with all others are parts of the step before.
    pub fn step_by_operations(&mut self) {
        self.engine_mut().granularity = StepGranularity::Operations;
    }

    /// Restores the default from the next execution on: operations that commute with all others are
    /// parts of the step before.
    pub fn step_by_accesses(&mut self) {
        let engine = self.engine_mut();
        engine.granularity = StepGranularity::of_search(&engine.config);
    }

    /// Turns a schedule of accesses into the same schedule of operations. From now on, the model
    /// steps by operations. After a data race, the program may diverge from the schedule. The
    /// result then ends at the first step that does not fit.
    pub fn refine(&mut self, schedule: &Schedule) -> Result<Schedule, Interrupt> {
        if StepGranularity::of_search(&self.engine().config) == StepGranularity::Operations {
            return Ok(schedule.clone());
        }
        self.step_by_operations();
        loop {
            self.reset();
            let mut refined = Schedule::new();
            match self.refine_into(&mut refined, schedule) {
                Err(Interrupt::Diverged(_)) if self.has_raced() => return Ok(refined),
                // The program has coarser objects than the search assumed. This does not matter for
                // a single schedule, so run it again.
                Err(Interrupt::Coarsened) => {}
                result => return result.map(|()| refined),
            }
        }
    }

    fn refine_into(
        &mut self,
        refined: &mut Schedule,
        schedule: &Schedule,
    ) -> Result<(), Interrupt> {
        self.step_through(refined, ThreadId::MAIN)?;
        // For each step of `schedule`, its position in `refined`. Steps name the write that they
        // read from by its position.
        let mut positions: Vec<EventId> = Vec::new();
        for &step in schedule {
            let source = step.reads_from.event();
            let source = source.and_then(|write| positions.get(write.index()));
            let reads_from = source.map_or(step.reads_from, |&write| ReadsFrom::from(write));
            let step = Step { reads_from, ..step };
            positions.push(EventId::at(refined.len()));
            self.step(step)?;
            refined.push(step);
            self.step_through(refined, step.thread)?;
        }
        Ok(())
    }

    /// Checks whether the current execution had a data race.
    pub fn has_raced(&self) -> bool {
        self.has_failure(FailureKind::DataRace)
    }

    /// Checks whether the current execution had a failure of this kind.
    pub fn has_failure(&self, kind: FailureKind) -> bool {
        let mut failures = self.failures().into_iter();
        failures.any(|shown| shown.kind == kind)
    }

    /// Performs all enabled operations that commute with all others, in the order in which a search
    /// performs them within the step: first those of the step's thread, then those of threads that
    /// the step has started, then those of threads whose waits the step has ended.
    fn step_through(&mut self, steps: &mut Schedule, thread: ThreadId) -> Result<(), Interrupt> {
        let mut granted = std::mem::take(&mut self.engine_mut().life.woken);
        let mut next = Some(thread);
        while let Some(thread) = next {
            while self.engine().can_commute(thread) {
                let step = Step::of(thread);
                self.step(step)?;
                steps.push(step);
            }
            let woken = self.engine_mut().life.woken.pop_front();
            next = woken.or_else(|| granted.pop_front());
        }
        Ok(())
    }
}

impl Engine {
    /// Checks whether the thread can perform an operation that commutes with all others.
    fn can_commute(&self, thread: ThreadId) -> bool {
        let request = self
            .life
            .pending
            .get(thread.index())
            .and_then(Pending::enabled);
        request.is_some_and(|request| {
            let is_private = request.op.access == Access::None
                && matches!(request.op.kind, OpKind::Load | OpKind::Store);
            is_private || request.op.kind == OpKind::Spawn || self.wait_of(thread).is_some()
        })
    }
}
