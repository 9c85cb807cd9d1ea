//! `std::lock`, which takes several locks: it waits for one and tries the others. If a try fails, it gives back what it has, and
//! begins again with the lock that it did not get.
//!
//! Two threads can make each other fail for ever, so there is no end of executions. But rounds that fail leave everything as it
//! was. Without all of them the other threads see the same, unless one of their own tries failed because of a lock that was held for such
//! a round; if that try is of `std::lock`, its round fails and is left out, too. So a thread stops after a round
//! that failed, and waits for the lock that it did not get as the [await rule](crate::await_rule) has it. As soon as any other try has failed
//! in the program, rounds are no longer left out.

use crate::engine::Engine;
use crate::perform::{halt, silently};
use explore::Halt;

/// The last try of the thread that runs has failed; `is_of_several` says whether `std::lock` made it.
pub fn failed_to_lock(is_of_several: bool) {
    silently(|engine| {
        if engine.names.leaves_out_rounds() {
            match is_of_several {
                true => engine.fails_round(),
                false => engine.keep_rounds(),
            }
        }
    });
}

/// The thread that runs is about to wait for a lock. It stops if a round of `std::lock` failed before.
pub fn waits_for_lock() {
    if silently(Engine::ends_failed_round) {
        halt(Halt::Await);
    }
}

impl Engine {
    fn fails_round(&mut self) {
        let thread = self.thread();
        thread.round.missed = thread.laps.last_learnt();
        if !self.names.has_left_out_rounds() {
            self.names.leave_out_rounds();
        }
    }

    /// Executions so far may have left out rounds that the try that failed now depends on.
    #[cold]
    fn keep_rounds(&mut self) {
        self.is_coarsened |= self.names.has_left_out_rounds();
        self.names.keep_rounds();
    }

    fn ends_failed_round(&mut self) -> bool {
        let round = &mut self.thread().round;
        match round.missed.take() {
            Some(missed) => {
                round.learnt(&[missed]);
                true
            }
            None => false,
        }
    }
}
