//! The end of an execution with threads that have not reached the end of their code.
//!
//! Threads that do not report their states (closures) are *abandoned*: they run no more code,
//! because their destructors would find states that are impossible in the program. The values that
//! they own leak. [`reclaim`](crate::memory::reclaim) frees their memory.
//!
//! Threads that report their states own values that can be dropped at any operation. They run to
//! completion if few operations are left. Otherwise they are unwound: each is resumed once, and its
//! pending operation starts the unwinding. The children of a thread are unwound before the thread,
//! because the children may borrow from it. Operations of destructors take effect at once. A thread
//! is abandoned if it waits in a destructor for something that never happens, or does not stop.

use crate::engine::Engine;
use crate::engine::guest::Guest;
use crate::engine::model::Model;
use crate::engine::root;
use crate::guests::Guests;
use explore::{Interrupt, Pending, Step, ThreadId};
use report::Restart;
use std::ptr::NonNull;

/// The number of operations per thread that are assumed to cost less than unwinding the thread.
const NEAR: usize = 50;

impl Model {
    /// Continues threads that report their states, as long as this costs less than unwinding them.
    /// If their operations require that the exploration starts again, returns the reason.
    pub(crate) fn run_out(&mut self) -> Option<Restart> {
        let engine = self.engine();
        if !Guests::can_unwind(engine) || engine.watch.records || engine.is_coarsened() {
            return None;
        }
        for _ in 0..NEAR * self.engine().life.live {
            let pending = self.engine().life.pending.iter();
            let mut enabled = pending.map(|pending| pending.enabled().is_some());
            let Some(next) = enabled.position(|is_enabled| is_enabled) else {
                break;
            };
            match self.advance(Step::of(ThreadId::from_index(next))) {
                Ok(()) => {}
                Err(Interrupt::Coarsened) => return self.engine().life.coarsened,
                Err(_) => break,
            }
        }
        None
    }

    /// Abandons or unwinds the threads that remain.
    #[cold]
    pub(crate) fn tear_down(&mut self) {
        if !Guests::can_unwind(self.engine()) {
            return self.abandon();
        }
        self.engine_mut().is_tearing_down = true;
        self.engine_mut().end_lost_threads();
        while !self.engine().is_quiet() {
            let before = self.engine().progress();
            for index in (0..self.engine().started().len()).rev() {
                let thread = self.engine().started()[index];
                if self.engine().can_be_unwound(thread) {
                    self.resume(thread);
                }
            }
            if self.engine().progress() == before {
                let engine = self.pointer();
                self.engine_mut().give_up_youngest(engine);
            }
        }
        self.engine_mut().is_tearing_down = false;
    }
}

impl Model {
    /// Abandons all remaining threads. The memory of a native program is restored as a whole later.
    fn abandon(&mut self) {
        if self.engine().is_coarsened() && Guests::has_changed_system(self.engine()) {
            self.run_to_end();
        }
        let engine = self.pointer();
        Guests::abandon_all(self.engine_mut());
        for index in 0..self.engine().started().len() {
            let thread = self.engine().started()[index];
            if self.engine().is_left(thread) {
                self.engine_mut().give_up(thread, engine);
                self.engine_mut().life.pending[thread.index()] = Pending::Finished;
            }
        }
    }
}

impl Model {
    /// Runs the rest of an execution that was broken off. At its end the program may undo its
    /// changes to the system, which the next execution would otherwise find. What this run shows
    /// about the program does not count.
    fn run_to_end(&mut self) {
        let coarsened = self.engine_mut().life.coarsened.take();
        let most = self.engine().config.conditions.max_events;
        let mut last = 0;
        for _ in 0..most {
            let pending = &self.engine().life.pending;
            let mut next = (1..=pending.len()).map(|step| (last + step) % pending.len());
            let Some(thread) = next.find(|&thread| pending[thread].enabled().is_some()) else {
                break;
            };
            last = thread;
            match self.advance(Step::of(ThreadId::from_index(thread))) {
                Ok(()) => {}
                Err(Interrupt::Coarsened) => self.engine_mut().life.coarsened = None,
                Err(_) => break,
            }
        }
        self.engine_mut().life.coarsened = coarsened;
    }
}

impl Engine {
    /// Returns a value that grows when a thread ends or performs an operation.
    fn progress(&self) -> (usize, u32) {
        let ended = self
            .started()
            .iter()
            .filter(|&&thread| !self.is_left(thread))
            .count();
        (
            ended,
            self.started()
                .iter()
                .map(|thread| self.threads[thread.index()].life.tear_down_operations)
                .sum(),
        )
    }

    /// Checks whether the thread has not reached the end of its code, and has not been abandoned.
    fn is_left(&self, thread: ThreadId) -> bool {
        if self.threads[thread.index()].life.is_lost {
            return false;
        }
        match &self.life.pending[thread.index()] {
            Pending::Enabled(_) | Pending::Waiting(_) | Pending::Halted(_) => true,
            Pending::Failed | Pending::Finished | Pending::NotStarted => false,
        }
    }

    /// Checks whether the thread remains and no remaining thread may borrow from it.
    fn can_be_unwound(&self, thread: ThreadId) -> bool {
        let is_ancestor = |mut other: ThreadId| {
            while other != ThreadId::MAIN {
                other = self.names.parent(other);
                if other == thread {
                    return true;
                }
            }
            false
        };
        self.is_left(thread)
            && !self
                .started()
                .iter()
                .any(|&other| self.is_left(other) && is_ancestor(other))
    }

    /// Abandons the youngest remaining thread.
    fn give_up_youngest(&mut self, engine: NonNull<Engine>) {
        let youngest = self
            .started()
            .iter()
            .copied()
            .rev()
            .find(|&thread| self.is_left(thread));
        let thread = youngest.expect("an execution that is not quiet has a thread left");
        self.give_up(thread, engine);
        self.end_thread(thread);
        self.life.pending[thread.index()] = Pending::Finished;
    }

    /// Marks the threads that do not remain, such as those that a signal ended, as ended, so that
    /// no thread waits for them.
    fn end_lost_threads(&mut self) {
        for index in 0..self.started().len() {
            let thread = self.started()[index];
            if !self.is_left(thread) {
                self.end_thread(thread);
            }
        }
    }

    /// Abandons the thread: its position and the values that it owns are lost.
    pub(crate) fn give_up(&mut self, thread: ThreadId, engine: NonNull<Engine>) {
        self.ends_abruptly();
        let abandoned = &mut self.threads[thread.index()];
        Guests::abandon(abandoned);
        std::mem::forget(abandoned.job.take());
        abandoned.fibre.begin_again(root::of(engine));
    }
}
