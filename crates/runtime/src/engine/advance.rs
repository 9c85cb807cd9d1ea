//! The step protocol. A step begins, and its thread runs to its next operation. Then the threads
//! that the step has started or woken run to their next operations, and the step ends.
//!
//! [`Model::advance`] performs one step. While an execution is repeated, a thread that has the next
//! step, too, performs it without a switch to the model and back ([`Engine::runs_on`]).

use crate::engine::Engine;
use crate::engine::coroutine::Fibre;
use crate::engine::guest::{Comparison, Guest};
use crate::engine::model::Model;
use crate::engine::panic_count::PanicCount;
use crate::engine::perform;
use crate::engine::trap::{self, Trap};
use crate::guests::Guests;
use explore::{Divergence, EventId, Execution, Found, Interrupt, Step, ThreadId};
use std::time::Duration;

/// The patience after a thread of the model has blocked or run endlessly once. The same happens
/// when the execution is repeated to record it, and should then take less time.
const SHORT_PATIENCE: Duration = Duration::from_millis(150);

impl Model {
    /// Runs a thread to its next operation.
    pub(crate) fn resume(&mut self, thread: ThreadId) {
        let fibre = self.engine_mut().begin_run(thread);
        self.run(thread, fibre);
    }

    /// Runs the thread, whose coroutine is `fibre`, until the coroutine suspends itself.
    #[inline(always)]
    fn run(&mut self, thread: ThreadId, fibre: *mut Fibre) {
        trap::enter(self.engine);
        if self.engine().watch.compares {
            Guests::compare(self.engine_mut(), Comparison::BeforeRun(thread));
        }
        let panics = self.engine().threads[thread.index()].life.panics;
        if let (1.., Some(count)) = (panics, &self.panics) {
            count.put(panics);
        }
        // SAFETY: the fibre stays at its address until the model is dropped. No reference to the
        // engine exists while the coroutine uses it.
        let is_suspended = unsafe { (*fibre).resume() };
        if panics > 0 || std::thread::panicking() {
            self.keep_panics(thread);
        }
        if !is_suspended {
            self.trapped(thread);
        } else if self.engine().watch.compares {
            Guests::compare(self.engine_mut(), Comparison::AfterRun(thread));
        }
    }

    /// Stores the number of panics in progress of a suspended thread. These panics must not affect
    /// other threads.
    #[cold]
    fn keep_panics(&mut self, thread: ThreadId) {
        let is_within_panic = self.is_within_panic;
        let find = || PanicCount::find(is_within_panic);
        let panics = self.panics.get_or_insert_with(find).take();
        self.engine_mut().threads[thread.index()].life.panics = panics;
    }

    /// Handles a signal that has ended the thread's coroutine.
    #[cold]
    fn trapped(&mut self, thread: ThreadId) {
        perform::enter_root();
        let engine = self.engine;
        if let Some(control_words) = self.engine().control_words {
            control_words.set();
        }
        let trap = trap::take();
        if matches!(trap, Some(Trap::Blocked | Trap::Endless)) {
            let patience = &mut self.engine_mut().config.patience;
            *patience = (*patience).min(SHORT_PATIENCE);
            self.watch.limit_patience(SHORT_PATIENCE);
            // If the signal ended a wait in `park`, the park token still records a waiting thread.
            // This resets the token.
            std::thread::current().unpark();
            std::thread::park();
        }
        self.engine_mut().give_up(thread, engine);
        Guests::trapped(self.engine_mut(), thread, trap);
    }

    /// Performs a step. While an execution is repeated, the thread may also perform steps that
    /// follow, if they are its own.
    #[inline(always)]
    pub(crate) fn advance(&mut self, step: Step) -> Result<(), Interrupt> {
        let Some(fibre) = self.engine_mut().begin_step(step) else {
            return Err(self.diverged(step));
        };
        self.run(step.thread, fibre);
        self.settle();
        if self.engine().life.is_in_event {
            self.engine_mut().end_step(step.thread);
            self.settle();
        }
        if self.engine().is_coarsened() {
            return Err(match self.engine().life.has_unfit_source {
                true => self.diverged(step),
                false => Interrupt::Coarsened,
            });
        }
        Ok(())
    }

    /// Runs the threads that are ready, because they were started or their waits have ended, to
    /// their next operations.
    #[inline(always)]
    pub(crate) fn settle(&mut self) {
        while let Some(ready) = self.engine_mut().take_ready() {
            self.resume(ready);
            self.engine_mut().halt_at_bound(ready);
        }
    }

    /// Returns the interrupt for a step that cannot be performed in the current state.
    #[cold]
    fn diverged(&self, step: Step) -> Interrupt {
        Interrupt::Diverged(Divergence {
            at: self.engine().event().index(),
            thread: step.thread,
            expected: None,
            found: Found::NotEnabled,
        })
    }
}

impl Engine {
    /// Begins the step of the running thread, which has announced its operation, if the current
    /// execution is repeated and this operation is next. Returns whether the step has begun.
    #[inline(always)]
    pub(crate) fn runs_on(&mut self) -> bool {
        !self.script.is_null() && self.may_continue() && self.runs_on_by_script()
    }

    #[inline(never)]
    fn runs_on_by_script(&mut self) -> bool {
        // SAFETY: `Model::repeat` holds a reference to the execution while `script` points to it.
        let script = unsafe { &*self.script };
        let thread = self.running;
        let next = self.life.events as usize + 1;
        // Threads that are ready run first, as in the first execution.
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

    /// Checks whether the last event equals the event of the script at the same position.
    pub(crate) fn follows(&self, script: &Execution) -> Result<(), Divergence> {
        let last = EventId(self.life.events - 1);
        let event = script.event(last);
        event.must_be(last, self.op, (self.before, self.after))
    }
}
