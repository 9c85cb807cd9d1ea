//! Places that are granted in the order in which they were taken: what mutexes and semaphores have in common.
//!
//! A place is a number from a counter; it is granted when another counter has passed it. A place that is given up before
//! it is granted is marked in a ring of bits, and whoever grants it grants the next one in its stead. Marking and granting
//! may meet: then exactly one of the two clears the bit, and so decides.

use super::Deadline;
use crate::gate::SPINS;
use rustix::thread::futex;
use std::num::NonZeroU32;
use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Relaxed, SeqCst},
};

/// A view of an object's memory.
#[derive(Clone, Copy)]
pub(crate) struct Turnstile<'o> {
    /// The next place.
    pub(crate) next: &'o AtomicU32,
    /// How many have been granted beyond `initial`.
    pub(crate) granted: &'o AtomicU32,
    /// Threads that are parked.
    pub(crate) parked: &'o AtomicU32,
    /// Places that were given up, by their number modulo 64.
    pub(crate) given_up: &'o AtomicU64,
    /// Places that are granted at the start.
    pub(crate) initial: u32,
}

/// Places that may be given up are so close to those that are granted.
const RING: u32 = 64;

impl Turnstile<'_> {
    /// Takes a place.
    #[inline]
    pub(crate) fn take(&self) -> u32 {
        self.next.fetch_add(1, SeqCst)
    }

    /// Takes a place that may be given up; none if there are too many.
    pub(crate) fn take_leavable(&self) -> Option<u32> {
        let mut next = self.next.load(SeqCst);
        loop {
            if self.ahead(next) >= RING as i32 {
                return None;
            }
            match self
                .next
                .compare_exchange(next, next.wrapping_add(1), SeqCst, SeqCst)
            {
                Ok(place) => return Some(place),
                Err(other) => next = other,
            }
        }
    }

    /// How many grants a place is away; not positive if it is granted.
    #[inline]
    fn ahead(&self, place: u32) -> i32 {
        let limit = self.granted.load(SeqCst).wrapping_add(self.initial);
        place.wrapping_sub(limit).wrapping_add(1).cast_signed()
    }

    #[inline]
    pub(crate) fn is_granted(&self, place: u32) -> bool {
        self.ahead(place) <= 0
    }

    /// Waits until the place is granted.
    #[inline]
    pub(crate) fn wait(&self, place: u32) {
        if !self.is_granted(place) {
            self.waits(place, None);
        }
    }

    /// Waits until the place is granted or the time is over.
    #[cold]
    pub(crate) fn waits(&self, place: u32, deadline: Option<Deadline>) {
        crate::publish();
        for _ in 0..*SPINS {
            if self.is_granted(place) {
                return;
            }
            std::hint::spin_loop();
        }
        self.parked.fetch_add(1, SeqCst);
        loop {
            let granted = self.granted.load(SeqCst);
            if self.is_granted(place) {
                break;
            }
            let left = deadline.map(|deadline| deadline.left());
            if let Some(None) = left {
                break;
            }
            // A relative time: a deadline in the past ends the loop, any other one is looked at again.
            let until = left.flatten().map(after);
            let _ = futex::wait_bitset(
                self.granted,
                futex::Flags::PRIVATE,
                granted,
                until.as_ref(),
                bit(place),
            );
        }
        self.parked.fetch_sub(1, SeqCst);
    }

    /// Grants one more place.
    #[inline]
    pub(crate) fn grant(&self) {
        let mut place;
        loop {
            let granted = self.granted.fetch_add(1, SeqCst);
            place = granted.wrapping_add(self.initial);
            if self.given_up.load(SeqCst) & mark(place) == 0
                || self.given_up.fetch_and(!mark(place), SeqCst) & mark(place) == 0
            {
                break;
            }
        }
        if self.parked.load(SeqCst) > 0 {
            let _ = futex::wake_bitset(
                self.granted,
                futex::Flags::PRIVATE,
                i32::MAX as u32,
                bit(place),
            );
        }
    }

    /// Gives up a place unless it is granted; whether it is.
    pub(crate) fn resolve(&self, place: u32) -> bool {
        if self.is_granted(place) {
            return true;
        }
        self.given_up.fetch_or(mark(place), SeqCst);
        // Granted meanwhile: whoever clears the bit decides whose the grant is.
        self.is_granted(place) && self.given_up.fetch_and(!mark(place), SeqCst) & mark(place) != 0
    }

    /// How many places may still be taken without waiting.
    pub(crate) fn available(&self) -> u32 {
        let next = self.next.load(SeqCst);
        (1 - self.ahead(next)).max(0).cast_unsigned()
    }

    /// As new.
    pub(crate) fn clear(&self, granted: u32) {
        self.next.store(0, Relaxed);
        self.granted.store(granted, Relaxed);
        self.parked.store(0, Relaxed);
        self.given_up.store(0, SeqCst);
    }
}

fn mark(place: u32) -> u64 {
    1 << (place % RING)
}

fn bit(place: u32) -> NonZeroU32 {
    NonZeroU32::new(1 << (place % 32)).expect("one bit is set")
}

/// The time on the monotonic clock after this much of it.
pub(crate) fn after(left: rustix::time::Timespec) -> rustix::time::Timespec {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let nanoseconds = now.tv_nsec + left.tv_nsec;
    rustix::time::Timespec {
        tv_sec: now.tv_sec + left.tv_sec + nanoseconds / 1_000_000_000,
        tv_nsec: nanoseconds % 1_000_000_000,
    }
}
