//! A lock for short changes inside an object. No thread waits for events while it holds a latch.

use crate::gate::SPINS;
use rustix::thread::futex;
use std::cell::UnsafeCell;
use std::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
};

/// A lock. Its word is `FREE`, `HELD`, or `CONTENDED` (held while threads may be parked).
#[derive(Default)]
#[repr(transparent)]
pub(crate) struct Latch(AtomicU32);

const FREE: u32 = 0;
const HELD: u32 = 1;
const CONTENDED: u32 = 2;

impl Latch {
    pub(crate) const fn new() -> Latch {
        Latch(AtomicU32::new(FREE))
    }

    /// Runs a closure while the calling thread holds the latch.
    #[inline]
    pub(crate) fn hold<R>(&self, does: impl FnOnce() -> R) -> R {
        if self
            .0
            .compare_exchange(FREE, HELD, Acquire, Relaxed)
            .is_err()
        {
            self.wait();
        }
        let result = does();
        if self.0.swap(FREE, Release) == CONTENDED {
            let _ = futex::wake(&self.0, futex::Flags::PRIVATE, 1);
        }
        result
    }

    #[cold]
    fn wait(&self) {
        for _ in 0..*SPINS {
            if self.0.load(Relaxed) == FREE
                && self
                    .0
                    .compare_exchange(FREE, HELD, Acquire, Relaxed)
                    .is_ok()
            {
                return;
            }
            std::hint::spin_loop();
        }
        while self.0.swap(CONTENDED, Acquire) != FREE {
            let _ = futex::wait(&self.0, futex::Flags::PRIVATE, CONTENDED, None);
        }
    }
}

/// A value that is used only under its latch.
#[derive(Default)]
pub(crate) struct Latched<T> {
    latch: Latch,
    value: UnsafeCell<T>,
}

// SAFETY: the value is used only under the latch.
unsafe impl<T: Send> Sync for Latched<T> {}

impl<T> Latched<T> {
    pub(crate) const fn new(value: T) -> Latched<T> {
        Latched {
            latch: Latch::new(),
            value: UnsafeCell::new(value),
        }
    }

    /// Runs a closure on the value. The closure must not call this function again.
    #[inline]
    pub(crate) fn with<R>(&self, does: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: the calling thread holds the latch, which only one thread holds at a time.
        self.latch.hold(|| does(unsafe { &mut *self.value.get() }))
    }
}
