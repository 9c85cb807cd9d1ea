//! Random delays for tests, which make rare schedules frequent.

use crate::enforcement;
use crate::thread::Thread;
use rustix::thread::{NanosleepRelativeResult, Timespec, nanosleep};
use std::cell::Cell;

/// Delays the calling thread at random, if delays are on.
#[inline]
pub(crate) fn some(thread: Option<&Thread>) {
    if let Some(thread) = thread.filter(|_| enforcement::is_delayed()) {
        delay(random(Some(thread)));
    }
}

/// Returns a random number for the seed of a new child of this thread. Returns 0 without delays.
pub(crate) fn drawn(parent: &Thread) -> u64 {
    match enforcement::is_delayed() {
        true => u64::from(random(Some(parent))),
        false => 0,
    }
}

#[cold]
fn delay(random: u32) {
    match random % 16 {
        0 => {
            let time = Timespec {
                tv_sec: 0,
                tv_nsec: i64::from(random >> 4) % 60_000,
            };
            let (NanosleepRelativeResult::Ok
            | NanosleepRelativeResult::Interrupted(_)
            | NanosleepRelativeResult::Err(_)) = nanosleep(&time);
        }
        1..4 => rustix::thread::sched_yield(),
        4..8 => (0..random >> 4 & 1023).for_each(|_| std::hint::spin_loop()),
        _ => {}
    }
}

/// Returns the next random number of the thread (xorshift, Marsaglia 2003).
pub(crate) fn random(thread: Option<&Thread>) -> u32 {
    thread_local! {
        static OTHERS: Cell<u64> = const { Cell::new(0x2545_f491_4f6c_dd1d) };
    }
    let next = |mut state: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let state = match thread {
        Some(thread) => {
            thread.random.set(next(thread.random.get()));
            thread.random.get()
        }
        None => {
            OTHERS.set(next(OTHERS.get()));
            OTHERS.get()
        }
    };
    (state >> 32) as u32
}
