//! Waiting until something holds that others bring about.

use super::Deadline;
use super::turnstile::after;
use crate::gate::SPINS;
use rustix::thread::futex;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst, fence};

/// Rung by whoever changes what others wait for.
pub(crate) struct Bell {
    /// Grows when it is rung and somebody is parked.
    rung: AtomicU32,
    parked: AtomicU32,
}

impl Bell {
    pub(crate) const fn new() -> Bell {
        Bell {
            rung: AtomicU32::new(0),
            parked: AtomicU32::new(0),
        }
    }

    /// Waits until it is so, or the time is over.
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
            // In this order: who makes it so rings afterwards.
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

    /// Who waits looks again.
    #[inline]
    pub(crate) fn ring(&self) {
        fence(SeqCst);
        if self.parked.load(SeqCst) > 0 {
            self.rung.fetch_add(1, SeqCst);
            let _ = futex::wake(&self.rung, futex::Flags::PRIVATE, i32::MAX as u32);
        }
    }
}
