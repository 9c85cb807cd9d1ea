//! The end of an execution with threads that have not come to the end of their code.
//!
//! Closures are *abandoned*: no code of the program runs any more, since its destructors would find what they never find in the
//! program. What their threads own leaks; [`reclaim`](crate::reclaim) takes its memory back.
//!
//! Threads that tell their states own what can be dropped at any operation. They are let run to their ends where these are near, and
//! else unwound: each is run once more, and its operation begins to unwind it. Threads that a thread started are unwound before it,
//! since they may borrow from it. Operations of destructors take effect at once. A thread that waits in a destructor for something
//! that never comes, or does not stop, is abandoned.

use crate::engine::Engine;
use crate::model::Model;
use explore::{Interrupt, Pending, Step, ThreadId};
use std::ptr::NonNull;

/// As many more operations of each thread cost less than to unwind it.
const NEAR: usize = 50;

impl Model {
    /// Lets threads that tell their states run on, for so long as that costs less than to unwind them.
    /// Returns whether objects became coarser.
    pub(crate) fn run_out(&mut self) -> bool {
        let engine = self.engine();
        if !engine.tells_states() || engine.watch.records || engine.is_coarsened {
            return false;
        }
        for _ in 0..NEAR * self.engine().live {
            let pending = self.engine().pending.iter();
            let mut enabled = pending.map(|pending| pending.enabled().is_some());
            let Some(next) = enabled.position(|is_enabled| is_enabled) else {
                break;
            };
            match self.move_on(Step::of(ThreadId::from_index(next))) {
                Ok(()) => {}
                Err(Interrupt::Coarsened) => return true,
                Err(_) => break,
            }
        }
        false
    }

    /// Abandons or unwinds the threads that are left.
    #[cold]
    pub(crate) fn tear_down(&mut self) {
        if !self.engine().tells_states() {
            return self.abandon();
        }
        self.engine_mut().is_tearing_down = true;
        self.engine_mut().end_lost_threads();
        while !self.engine().is_quiet() {
            let before = self.engine().progress();
            for index in (0..self.engine().born().len()).rev() {
                let thread = self.engine().born()[index];
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
    /// Leaves the threads where they stand. What those of a native program have is put back as a whole.
    fn abandon(&mut self) {
        let engine = self.pointer();
        self.engine_mut().snapshots.forget();
        for index in 0..self.engine().born().len() {
            let thread = self.engine().born()[index];
            if self.engine().is_left(thread) {
                self.engine_mut().give_up(thread, engine);
                self.engine_mut().pending[thread.index()] = Pending::Finished;
            }
        }
    }
}

impl Engine {
    /// Whether all threads and objects of the execution tell their states.
    fn tells_states(&self) -> bool {
        self.config.native.is_none() && self.watch.states && self.opaque().is_none()
    }

    /// Grows when a thread ends or performs an operation.
    fn progress(&self) -> (usize, u32) {
        let ended = self
            .born()
            .iter()
            .filter(|&&thread| !self.is_left(thread))
            .count();
        (
            ended,
            self.born()
                .iter()
                .map(|thread| self.threads[thread.index()].torn)
                .sum(),
        )
    }

    /// Whether the thread has not come to the end of its code.
    fn is_left(&self, thread: ThreadId) -> bool {
        match &self.pending[thread.index()] {
            Pending::Enabled(_) | Pending::Waiting(_) | Pending::Halted(_) => true,
            Pending::Failed | Pending::Finished | Pending::Unborn => false,
        }
    }

    /// Whether the thread is left, and none that may borrow from it.
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
                .born()
                .iter()
                .any(|&other| self.is_left(other) && is_ancestor(other))
    }

    /// Gives up the youngest thread that is left.
    fn give_up_youngest(&mut self, engine: NonNull<Engine>) {
        let youngest = self
            .born()
            .iter()
            .copied()
            .rev()
            .find(|&thread| self.is_left(thread));
        let thread = youngest.expect("an execution that is not quiet has a thread that is left");
        self.give_up(thread, engine);
        self.end_thread(thread);
        self.pending[thread.index()] = Pending::Finished;
    }

    /// Threads that a signal ended do not keep others waiting.
    fn end_lost_threads(&mut self) {
        for index in 0..self.born().len() {
            let thread = self.born()[index];
            if !self.is_left(thread) {
                self.end_thread(thread);
            }
        }
    }

    /// Forgets where the thread is, and what it owns.
    pub(crate) fn give_up(&mut self, thread: ThreadId, engine: NonNull<Engine>) {
        self.ends_abruptly();
        let own = &mut self.threads[thread.index()];
        own.run = 0;
        own.locals.forget();
        std::mem::forget(own.job.take());
        own.fibre.begin_again(engine);
    }
}
