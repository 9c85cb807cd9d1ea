//! Objects that block, with the policy of the model: first come, first served; no spurious wakeups; a waiter is chosen by
//! the plan. Each lives in the memory of the C library's object of its kind, so that static initialisers work, except for
//! those that have no room.
//!
//! A request is an event that ends when its place is taken; the wait for the grant is none.

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

/// When a timed operation gives up.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    /// By which clock.
    pub is_monotonic: bool,
    /// Seconds.
    pub seconds: i64,
    /// Nanoseconds beside them.
    pub nanoseconds: i64,
}

/// Longer waits are cut into pieces, since clocks may be set.
const LONGEST: i64 = 1_000_000_000;

impl Deadline {
    /// When so much time is over.
    pub fn after(limit: Duration) -> Deadline {
        let now = clock_gettime(ClockId::Monotonic);
        let seconds = i64::try_from(limit.as_secs()).unwrap_or(i64::MAX);
        Deadline {
            is_monotonic: true,
            seconds: now.tv_sec.saturating_add(seconds),
            nanoseconds: now.tv_nsec + i64::from(limit.subsec_nanos()),
        }
    }

    /// What is left; none if it is over.
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
