//! The published progress of each thread, and waits for this progress.
//!
//! A waiting thread spins for a moment and then parks, because performance must not collapse if
//! there are more threads than processors.

use crate::follow;
use crate::plan::MOST_THREADS;
use rustix::thread::futex;
use std::sync::LazyLock;
use std::sync::atomic::{
    AtomicBool, AtomicU32,
    Ordering::{Acquire, Relaxed, SeqCst},
};

/// The published progress of a thread that the safe trace names.
#[repr(align(128))]
pub(crate) struct Gate {
    /// Number of the thread's last event that is known to be performed.
    published: AtomicU32,
    /// Number of threads parked at this gate.
    parked: AtomicU32,
    /// Incremented whenever the parked threads have to check again.
    bell: AtomicU32,
    /// Whether the thread has been started.
    has_begun: AtomicBool,
    /// Whether the thread performs no further events.
    has_ended: AtomicBool,
}

/// The result of a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wait {
    /// The event has happened.
    Reached,
    /// The plan has changed, so the wait may no longer be necessary.
    Changed,
    /// The event will never happen.
    Never,
}

static GATES: [Gate; MOST_THREADS] = [const { Gate::new() }; MOST_THREADS];

/// Rounds of spinning before a thread parks. 0 on one processor, because no other thread could run
/// meanwhile.
pub(crate) static SPINS: LazyLock<u32> = LazyLock::new(|| {
    let processors = std::thread::available_parallelism();
    if processors.is_ok_and(|number| number.get() > 1) {
        400
    } else {
        0
    }
});

impl Gate {
    const fn new() -> Gate {
        Gate {
            published: AtomicU32::new(0),
            parked: AtomicU32::new(0),
            bell: AtomicU32::new(0),
            has_begun: AtomicBool::new(false),
            has_ended: AtomicBool::new(false),
        }
    }

    /// Returns the gate of the thread with this number.
    pub(crate) fn of(number: usize) -> &'static Gate {
        &GATES[number]
    }

    /// Checks whether the event with this index has happened.
    #[inline]
    pub(crate) fn has_published(&self, index: u32) -> bool {
        self.published.load(Acquire) >= index
    }

    /// Records that the thread has been started.
    pub(crate) fn begin(&self) {
        self.has_begun.store(true, Relaxed);
    }

    /// Announces that the thread has performed its events up to this index.
    pub(crate) fn publish(&self, index: u64) {
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        if self.published.swap(index, SeqCst) != index {
            self.ring();
        }
    }

    /// Announces that the thread performs no further events.
    pub(crate) fn close(&self) {
        self.has_ended.store(true, SeqCst);
        self.ring();
    }

    /// Resets the gate for another run of the program. No thread waits at the gate.
    pub(crate) fn reopen(&self) {
        self.has_begun.store(false, Relaxed);
        self.has_ended.store(false, SeqCst);
        self.published.store(0, SeqCst);
    }

    /// Makes the threads parked at this gate check again.
    pub(crate) fn ring(&self) {
        if self.parked.load(SeqCst) > 0 {
            self.bell.fetch_add(1, SeqCst);
            let _ = futex::wake(&self.bell, futex::Flags::PRIVATE, i32::MAX as u32);
        }
    }

    /// Waits until the event with this index has happened, as long as the wait is necessary.
    pub(crate) fn wait(&self, index: u32, is_necessary: impl Fn() -> bool) -> Wait {
        // Starting a thread takes too long for spinning.
        let spins = if self.has_begun.load(Relaxed) {
            *SPINS
        } else {
            0
        };
        for _ in 0..spins {
            if self.has_published(index) {
                return Wait::Reached;
            }
            std::hint::spin_loop();
        }
        self.parked.fetch_add(1, SeqCst);
        let result = loop {
            let bell = self.bell.load(SeqCst);
            // The order matters: a thread publishes all its events before it is marked as ended.
            let has_ended = self.has_ended.load(SeqCst);
            if self.has_published(index) {
                break Wait::Reached;
            }
            if !is_necessary() {
                break Wait::Changed;
            }
            if has_ended {
                break Wait::Never;
            }
            // The wait is interrupted once to start the follower, because a relaxed version of the
            // file may end a long wait.
            let until_followed = follow::starts_in();
            let _ = futex::wait(
                &self.bell,
                futex::Flags::PRIVATE,
                bell,
                until_followed.as_ref(),
            );
        };
        self.parked.fetch_sub(1, SeqCst);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn a_waiter_continues_when_the_event_has_happened() {
        let gate = Gate::new();
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| gate.wait(3, || true));
            gate.publish(2);
            gate.publish(3);
            assert_eq!(waiter.join().unwrap(), Wait::Reached);
        });
    }

    #[test]
    fn a_wait_for_a_thread_that_ends_is_reported() {
        let gate = Gate::new();
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| gate.wait(3, || true));
            gate.publish(2);
            gate.close();
            assert_eq!(waiter.join().unwrap(), Wait::Never);
        });
    }

    #[test]
    fn a_wait_ends_when_the_plan_no_longer_requires_it() {
        let gate = Gate::new();
        let plan = AtomicU32::new(1);
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| gate.wait(3, || plan.load(SeqCst) == 1));
            plan.store(2, SeqCst);
            // A thread that parks later sees the new plan.
            gate.ring();
            assert_eq!(waiter.join().unwrap(), Wait::Changed);
        });
    }

    #[test]
    fn many_threads_in_a_chain_take_turns() {
        let gates: Vec<Gate> = (0..8).map(|_| Gate::new()).collect();
        let turns = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for (index, gate) in gates.iter().enumerate() {
                let before = &gates[(index + 7) % 8];
                let turns = &turns;
                scope.spawn(move || {
                    for round in 1..=200 {
                        let awaited = if index == 0 { round - 1 } else { round };
                        assert_eq!(before.wait(awaited, || true), Wait::Reached);
                        assert_eq!(turns.fetch_add(1, SeqCst) % 8, index as u32);
                        gate.publish(u64::from(round));
                    }
                });
            }
        });
        assert_eq!(turns.into_inner(), 1600);
    }
}
