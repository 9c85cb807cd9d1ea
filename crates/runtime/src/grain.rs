//! What is a step of a model.
//!
//! Spawns and waits have no access, so that they commute with every operation of other threads. In a search
//! they happen as soon as they can, in the step before: that leaves fewer steps to explore and fewer events to
//! keep. A person wants to see them: [`Model::refine`] turns a schedule of the one kind into the other.

use crate::engine::Engine;
use crate::model::{Config, Model};
use crate::undone::is_for_lock;
use crate::waiting::Wait;
use explore::{Access, Interrupt, OpKind, Pending, Program, Schedule, Step, ThreadId};
use report::{FailureKind, Shortcut};

/// What is a step.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Grain {
    /// An operation with an access or with alternatives. Spawns and waits commute with everything and
    /// happen as soon as they can, in the step before: that leaves fewer steps to explore.
    #[default]
    Accesses,
    /// Every operation, for people.
    Operations,
}

impl Grain {
    /// What a step of a search is.
    pub(crate) fn of_search(config: &Config) -> Grain {
        match config.without.contains(&Shortcut::FoldedSpawns) {
            true => Grain::Operations,
            false => Grain::Accesses,
        }
    }
}

impl Model {
    /// From the next execution on every operation is a step, also those that commute with all others
    /// and are performed with the step before otherwise.
    pub fn step_by_operations(&mut self) {
        self.engine_mut().grain = Grain::Operations;
    }

    /// From the next execution on an operation that commutes with all others is performed with the step before, as at first.
    pub fn step_by_accesses(&mut self) {
        let engine = self.engine_mut();
        engine.grain = Grain::of_search(&engine.config);
    }

    /// The schedule of operations that is this schedule of accesses. From here on the model goes by
    /// operations. Where a data race shows in another thread than before, the schedule ends with it.
    pub fn refine(&mut self, schedule: &Schedule) -> Result<Schedule, Interrupt> {
        if Grain::of_search(&self.engine().config) == Grain::Operations {
            return Ok(schedule.clone());
        }
        self.step_by_operations();
        loop {
            self.reset();
            let mut refined = Schedule::new();
            match self.refine_into(&mut refined, schedule) {
                Err(Interrupt::Diverged(_)) if self.has_raced() => return Ok(refined),
                // The objects are coarser than the search knew, which it has no use for any more.
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
        for &step in schedule {
            self.step(step)?;
            refined.push(step);
            self.step_through(refined, step.thread)?;
        }
        Ok(())
    }

    /// Whether there was a data race in the execution at hand.
    pub fn has_raced(&self) -> bool {
        let mut failures = self.failures().into_iter();
        failures.any(|shown| shown.kind == FailureKind::DataRace)
    }

    /// Performs the operations that can be performed and commute with all others, in the order in which
    /// they are parts of the step: first those of its thread, then those of threads that it started, then
    /// those of threads whose waits it has ended.
    fn step_through(&mut self, steps: &mut Schedule, thread: ThreadId) -> Result<(), Interrupt> {
        let mut granted = std::mem::take(&mut self.engine_mut().woken);
        let mut next = Some(thread);
        while let Some(thread) = next {
            while self.engine().can_commute(thread) {
                let step = Step::of(thread);
                self.step(step)?;
                steps.push(step);
            }
            let woken = self.engine_mut().woken.pop_front();
            next = woken.or_else(|| granted.pop_front());
        }
        Ok(())
    }
}

impl Engine {
    /// Whether a thread may go on without a switch where it could have been suspended. Not where the await
    /// rule compares registers: a switch leaves others behind.
    #[inline(always)]
    pub(crate) fn may_go_on(&self) -> bool {
        !self.watch.stacks
    }

    /// The thread that runs performs an operation as part of the step at hand; false if that would be
    /// one too many.
    #[inline(always)]
    pub(crate) fn begin_part(&mut self) -> bool {
        let most = self.config.max_events;
        let thread = self.thread();
        if thread.operations >= most {
            return false;
        }
        thread.operations += 1;
        thread.round.take_effect();
        true
    }

    /// The same for a wait.
    pub(crate) fn begin_wait(&mut self, wait: Wait) -> bool {
        let had_effect = self.thread().round.has_effect();
        let begins = self.begin_part();
        if is_for_lock(wait) {
            self.thread().round.set_effect(had_effect);
        }
        begins
    }

    /// Whether the thread can perform an operation that commutes with all others.
    fn can_commute(&self, thread: ThreadId) -> bool {
        let request = self.pending.get(thread.index()).and_then(Pending::enabled);
        request.is_some_and(|request| {
            let is_private = request.op.access == Access::None
                && matches!(request.op.kind, OpKind::Load | OpKind::Store);
            is_private || request.op.kind == OpKind::Spawn || self.wait_of(thread).is_some()
        })
    }
}
