//! Semaphores in the memory of `sem_t`.

use super::Deadline;
use super::turnstile::Turnstile;
use crate::{begin, end};
use explore::OpKind;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// A semaphore.
#[repr(C)]
pub struct Semaphore {
    /// The next place of the turnstile.
    next: AtomicU32,
    unused: u32,
    /// Belongs to the C library.
    shared: AtomicU32,
    unused_too: u32,
    /// The state of the turnstile.
    state: AtomicU64,
}

impl Semaphore {
    /// Returns a semaphore with this number of permits.
    pub const fn new(permits: u32) -> Semaphore {
        Semaphore {
            next: AtomicU32::new(0),
            unused: 0,
            shared: AtomicU32::new(0),
            unused_too: 0,
            // The initial permits count as granted.
            state: AtomicU64::new(permits as u64),
        }
    }

    /// Returns the semaphore in this memory.
    ///
    /// # Safety
    ///
    /// The memory holds a semaphore of the C library that is used through this type only.
    pub unsafe fn at<'o, T>(object: *mut T) -> &'o Semaphore {
        // SAFETY: as promised by the caller. `sem_t` is at least as large as this type.
        unsafe { &*object.cast() }
    }

    fn turnstile(&self) -> Turnstile<'_> {
        Turnstile {
            next: &self.next,
            state: &self.state,
            initial: 0,
        }
    }

    /// Resets the semaphore to this number of permits.
    pub fn begin(&self, permits: u32) {
        self.turnstile().clear(permits);
    }

    /// Waits for a permit and takes it.
    pub fn acquire(&self) {
        begin(OpKind::SemaphoreRequest);
        let place = self.turnstile().take();
        end();
        self.turnstile().wait(place);
    }

    /// Takes a permit if a permit is available or, with a deadline, becomes available in time.
    pub fn try_acquire(&self, deadline: Option<Deadline>) -> bool {
        begin(OpKind::SemaphoreTryPlace);
        let place = self.turnstile().take_leavable();
        end();
        let place = self.turnstile().waits_in_time(place, deadline);
        begin(OpKind::SemaphoreTryResult);
        let is_granted = place.is_some_and(|place| self.turnstile().resolve(place));
        end();
        is_granted
    }

    /// Adds a permit.
    pub fn release(&self) {
        begin(OpKind::SemaphoreRelease);
        self.turnstile().grant();
        end();
    }

    /// Returns the number of permits that no thread has requested.
    pub fn permits(&self) -> u32 {
        begin(OpKind::SemaphoreTryResult);
        let permits = self.turnstile().available();
        end();
        permits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn semaphore(permits: u32) -> Semaphore {
        let semaphore = Semaphore {
            next: AtomicU32::new(9),
            unused: 0,
            shared: AtomicU32::new(0),
            unused_too: 0,
            state: AtomicU64::new(7 << 32 | 3),
        };
        semaphore.begin(permits);
        semaphore
    }

    #[test]
    fn there_are_as_many_permits_as_at_the_start_and_were_added() {
        let semaphore = semaphore(1);
        assert!(semaphore.try_acquire(None) && !semaphore.try_acquire(None));
        semaphore.release();
        assert_eq!(semaphore.permits(), 1);
        assert!(semaphore.try_acquire(None) && !semaphore.try_acquire(None));
    }

    #[test]
    fn waiters_get_the_permits_that_failed_tries_did_not_take() {
        let semaphore = &semaphore(0);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| (0..1_000).for_each(|_| semaphore.acquire()));
            }
            scope.spawn(|| {
                for _ in 0..2_000 {
                    if semaphore.try_acquire(None) {
                        semaphore.release();
                    }
                }
            });
            scope.spawn(|| (0..2_000).for_each(|_| semaphore.release()));
        });
        assert_eq!(semaphore.permits(), 0);
    }
}
