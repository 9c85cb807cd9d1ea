//! `std::lock` takes several locks: it waits for one lock and tries the others. If a try fails,
//! `std::lock` releases its locks and begins a new *round* with the lock that it did not get.
//!
//! Two threads can make each other fail forever, so that executions never end. But a failed round
//! changes nothing. If all failed rounds are left out, another thread is affected only if one of
//! its tries failed because a failed round held the lock. If this try belongs to `std::lock`, its
//! round fails and is left out, too. So a thread stops after a failed round and waits, under the
//! [await rule](crate::watch::await_rule), for the lock that it did not get. Once a try outside
//! `std::lock` has failed, rounds are no longer left out.

use crate::engine::Engine;
use crate::engine::perform::{halt, silently};
use explore::Halt;
use report::Restart;

/// Records that the running thread's last try has failed. `std::lock` made it if `is_of_several`.
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

/// Records that the running thread is about to wait for a lock. The thread stops if its last round
/// of `std::lock` has failed.
pub fn waits_for_lock() {
    if silently(Engine::ends_failed_round) {
        halt(Halt::Await);
    }
}

impl Engine {
    fn fails_round(&mut self) {
        let thread = self.thread();
        thread.life.guests.round.missed = thread.life.guests.round.seen.last().copied();
        if !self.names.has_left_out_rounds() {
            self.names.leave_out_rounds();
        }
    }

    /// Leaves out no rounds from now on, because the failed try may depend on rounds left out so
    /// far.
    #[cold]
    fn keep_rounds(&mut self) {
        if self.names.has_left_out_rounds() {
            self.coarsen(Restart::LockRounds);
        }
        self.names.keep_rounds();
    }

    fn ends_failed_round(&mut self) -> bool {
        let round = &mut self.thread().life.guests.round;
        match round.missed.take() {
            Some(missed) => {
                round.keep_seen(vec![missed]);
                true
            }
            None => false,
        }
    }
}
