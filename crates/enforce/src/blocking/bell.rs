//! Waits for a condition that other threads make true.

use super::Deadline;
use super::turnstile::after;
use crate::gate::SPINS;
use rustix::thread::futex;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst, fence};

/// A bell. Threads wait for a condition. A thread that may have made the condition true rings the
/// bell.
pub(crate) struct Bell {
    /// Incremented when the bell is rung while threads are parked.
    rung: AtomicU32,
    /// Number of threads that are parked or about to park.
    parked: AtomicU32,
}

impl Bell {
    pub(crate) const fn new() -> Bell {
        Bell {
            rung: AtomicU32::new(0),
            parked: AtomicU32::new(0),
        }
    }

    /// Waits until the condition holds or the deadline has passed.
    pub(crate) fn wait(&self, deadline: Option<Deadline>, is_so: impl Fn() -> bool) {
        if is_so() {
            return;
        }
        crate::publish();
        for _ in 0..*SPINS {
            if is_so() {
                return;
            }
            std::hint::spin_loop();
        }
        self.parked.fetch_add(1, SeqCst);
        loop {
            let rung = self.rung.load(SeqCst);
            // The order matters: a thread first makes the condition true and then rings.
            fence(SeqCst);
            if is_so() {
                break;
            }
            let left = deadline.map(|deadline| deadline.left());
            if let Some(None) = left {
                break;
            }
            let until = left.flatten().map(after);
            let any = NonZeroU32::MAX;
            let flags = futex::Flags::PRIVATE;
            let _ = futex::wait_bitset(&self.rung, flags, rung, until.as_ref(), any);
        }
        self.parked.fetch_sub(1, SeqCst);
    }

    /// Makes the waiting threads check their conditions again.
    #[inline]
    pub(crate) fn ring(&self) {
        fence(SeqCst);
        if self.parked.load(SeqCst) > 0 {
            self.rung.fetch_add(1, SeqCst);
            let _ = futex::wake(&self.rung, futex::Flags::PRIVATE, i32::MAX as u32);
        }
    }
}
