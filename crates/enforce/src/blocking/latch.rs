//! A lock for moments: what is inside an object is changed under it. Nobody waits for an event while holding one.

use crate::gate::SPINS;
use rustix::thread::futex;
use std::cell::UnsafeCell;
use std::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
};

/// Free, held, held with somebody parked.
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

    /// Does something that nobody else does meanwhile.
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

/// What is used under a latch only.
#[derive(Default)]
pub(crate) struct Latched<T> {
    latch: Latch,
    value: UnsafeCell<T>,
}

// SAFETY: the value is used under the latch.
unsafe impl<T: Send> Sync for Latched<T> {}

impl<T> Latched<T> {
    pub(crate) const fn new(value: T) -> Latched<T> {
        Latched {
            latch: Latch::new(),
            value: UnsafeCell::new(value),
        }
    }

    /// Does something with the value, from where nothing comes back here.
    #[inline]
    pub(crate) fn with<R>(&self, does: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: under the latch, which is held once at a time.
        self.latch.hold(|| does(unsafe { &mut *self.value.get() }))
    }
}
