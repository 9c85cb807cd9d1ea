//! Blocking objects with the policy of the model: first come, first served; no spurious wakeups;
//! the plan (the constraints and choices in force, see `plan.rs`) chooses which waiter is woken. An
//! object that replaces an object of the C library lives in the memory of that object, if it fits
//! there, so that static initializers work.
//!
//! A thread that requests an object takes a *place* in the order of the object. When the thread may
//! go on, the object *grants* the place. The request is an event, which ends when the place is
//! taken. The wait for the grant is not an event.

mod barrier;
mod bell;
mod channel;
mod condvar;
mod futex;
mod latch;
mod mutex;
mod once;
mod queue;
mod rwlock;
mod semaphore;
mod side;
mod token;
mod turnstile;

pub use barrier::Barrier;
pub use channel::{Channel, Unreceived, Unsent};
pub use condvar::Condvar;
pub use futex::{Waited, futex_wait, futex_wake};
pub(crate) use latch::{Latch, Latched};
pub use mutex::{Mutex, Refused};
pub use once::{Entry, Once};
pub use rwlock::RwLock;
pub use semaphore::Semaphore;
pub use side::Side;
pub use token::Token;

use rustix::time::{ClockId, Timespec, clock_gettime};
use std::time::Duration;

/// The time at which a timed operation gives up.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    /// Whether the time is on the monotonic clock, instead of the real-time clock.
    pub is_monotonic: bool,
    /// Seconds.
    pub seconds: i64,
    /// Nanoseconds in addition to the seconds.
    pub nanoseconds: i64,
}

/// Longest uninterrupted wait in nanoseconds. Longer waits are split, because the clock may be set
/// meanwhile.
const LONGEST: i64 = 1_000_000_000;

impl Deadline {
    /// Returns the deadline that lies `limit` from now.
    pub fn after(limit: Duration) -> Deadline {
        let now = clock_gettime(ClockId::Monotonic);
        let seconds = i64::try_from(limit.as_secs()).unwrap_or(i64::MAX);
        Deadline {
            is_monotonic: true,
            seconds: now.tv_sec.saturating_add(seconds),
            nanoseconds: now.tv_nsec + i64::from(limit.subsec_nanos()),
        }
    }

    /// Returns the time left, at most [`LONGEST`], or `None` if the deadline has passed.
    fn left(&self) -> Option<Timespec> {
        let clock = match self.is_monotonic {
            true => ClockId::Monotonic,
            false => ClockId::Realtime,
        };
        let now = clock_gettime(clock);
        let seconds = self.seconds.saturating_sub(now.tv_sec);
        let left = match seconds {
            2.. => LONGEST,
            _ => seconds * 1_000_000_000 + self.nanoseconds - now.tv_nsec,
        };
        (left > 0).then_some(Timespec {
            tv_sec: left / 1_000_000_000,
            tv_nsec: left % 1_000_000_000,
        })
    }
}
