//! Places that are granted in the order in which they were taken. Mutexes and semaphores use them.
//!
//! A place is a number from one counter. The place is granted when a second counter has passed it.
//! One word holds the second counter, the marks of places given up, and the number of parked
//! threads. So a grant is one change of that word. After this change the object is not accessed,
//! because the granted thread may destroy it.

use super::Deadline;
use super::queue::wake_at;
use crate::enforcement;
use crate::gate::SPINS;
use rustix::thread::{futex, nanosleep, sched_yield};
use rustix::time::Timespec;
use std::num::NonZeroU32;
use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Relaxed, SeqCst},
};

/// The parts of an object's memory that make up its turnstile.
#[derive(Clone, Copy)]
pub(crate) struct Turnstile<'o> {
    /// The next place to be taken.
    pub(crate) next: &'o AtomicU32,
    /// A [`State`].
    pub(crate) state: &'o AtomicU64,
    /// Number of places that are granted from the beginning.
    pub(crate) initial: u32,
}

/// A word of 64 bits. The low half is the futex on which threads park. It counts the places that
/// were granted, or skipped because they were given up, without the `initial` places. Each of the
/// following [`MARKS`] bits stands for one of the places that come next, and is set if that place
/// was given up. The highest bits count the parked threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct State(u64);

/// Number of places with a mark: the first places that are not granted. Only these can be given up.
const MARKS: u32 = 20;

const MARK: u64 = 1 << 32;
const ALL_MARKS: u64 = (MARK << MARKS) - MARK;
const PARKED: u64 = MARK << MARKS;

/// Interval between attempts to take a place that can be given up, when too many places are taken.
const PERIOD: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 1_000_000,
};

impl State {
    fn granted(self) -> u32 {
        self.0 as u32
    }

    fn marks(self) -> u64 {
        (self.0 & ALL_MARKS) / MARK
    }

    fn parked(self) -> u64 {
        self.0 / PARKED
    }

    /// Returns the state after a grant of the next place that was not given up. Also returns the
    /// number of this place, minus `initial`.
    fn grant(self) -> (State, u32) {
        let (mut marks, mut place) = (self.marks(), self.granted());
        while marks & 1 != 0 {
            (marks, place) = (marks >> 1, place.wrapping_add(1));
        }
        let granted = u64::from(place.wrapping_add(1));
        let state = self.0 & !ALL_MARKS & !u64::from(u32::MAX);
        (State(state | ((marks >> 1) * MARK) | granted), place)
    }
}

impl Turnstile<'_> {
    fn state(&self) -> State {
        State(self.state.load(SeqCst))
    }

    /// Returns the address at which threads park.
    fn word(&self) -> *mut u32 {
        self.state.as_ptr().cast()
    }

    /// Takes a place.
    #[inline]
    pub(crate) fn take(&self) -> u32 {
        self.next.fetch_add(1, SeqCst)
    }

    /// Takes a place that can be given up. Returns `None` if the place lies too far ahead for a
    /// mark.
    pub(crate) fn take_leavable(&self) -> Option<u32> {
        let mut next = self.next.load(SeqCst);
        loop {
            if self.ahead(next) > MARKS as i32 {
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

    /// Waits until the place is granted or the deadline has passed. Does not wait if there is no
    /// deadline, or if the plan decides whether the place is granted in time. If there is no place
    /// yet, takes a place that can be given up. Returns the place, if any.
    pub(crate) fn waits_in_time(
        &self,
        mut place: Option<u32>,
        deadline: Option<Deadline>,
    ) -> Option<u32> {
        if deadline.is_none() || enforcement::decides_next() {
            return place;
        }
        while place.is_none() && deadline.is_some_and(|deadline| deadline.left().is_some()) {
            let _ = nanosleep(&PERIOD);
            place = self.take_leavable();
        }
        place.inspect(|&place| self.waits(place, deadline))
    }

    /// Returns the number of further grants until the place is granted: 0 or less if it is granted
    /// already.
    #[inline]
    fn ahead(&self, place: u32) -> i32 {
        self.ahead_in(self.state(), place)
    }

    #[inline]
    fn ahead_in(&self, state: State, place: u32) -> i32 {
        let limit = state.granted().wrapping_add(self.initial);
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

    /// Waits until the place is granted or the deadline has passed.
    #[cold]
    pub(crate) fn waits(&self, place: u32, deadline: Option<Deadline>) {
        crate::publish();
        for _ in 0..*SPINS {
            if self.is_granted(place) {
                return;
            }
            std::hint::spin_loop();
        }
        while !self.begins_to_park() {
            sched_yield();
        }
        // SAFETY: the word is part of the object, which is not destroyed while a thread waits.
        let word = unsafe { AtomicU32::from_ptr(self.word()) };
        loop {
            let state = self.state();
            if self.ahead_in(state, place) <= 0 {
                break;
            }
            let left = deadline.map(|deadline| deadline.left());
            if let Some(None) = left {
                break;
            }
            // The time is computed again in each round, because `left` is at most `LONGEST` (see
            // `blocking.rs`).
            let until = left.flatten().map(after);
            let flags = futex::Flags::PRIVATE;
            let _ = futex::wait_bitset(word, flags, state.granted(), until.as_ref(), bit(place));
        }
        self.state.fetch_sub(PARKED, SeqCst);
    }

    /// Counts one more parked thread. Returns false if the count would overflow.
    fn begins_to_park(&self) -> bool {
        let more = |state| {
            let is_room = State(state).parked() < u64::MAX / PARKED;
            is_room.then(|| state + PARKED)
        };
        self.state.fetch_update(SeqCst, SeqCst, more).is_ok()
    }

    /// Grants one more place.
    #[inline]
    pub(crate) fn grant(&self) {
        let word = self.word();
        let mut before = self.state();
        let place = loop {
            let (after, place) = before.grant();
            match self
                .state
                .compare_exchange(before.0, after.0, SeqCst, SeqCst)
            {
                Ok(_) => break place.wrapping_add(self.initial),
                Err(other) => before = State(other),
            }
        };
        // The object may be gone.
        if before.parked() > 0 {
            wake_at(word, bit(place).get());
        }
    }

    /// Gives up a place unless it is granted. Returns whether the place is granted.
    pub(crate) fn resolve(&self, place: u32) -> bool {
        let gives_up = |state| {
            let ahead = self.ahead_in(State(state), place) - 1;
            (ahead >= 0).then(|| state | MARK << ahead)
        };
        self.state.fetch_update(SeqCst, SeqCst, gives_up).is_err()
    }

    /// Returns the number of places that can still be taken without waiting.
    pub(crate) fn available(&self) -> u32 {
        let next = self.next.load(SeqCst);
        (1 - self.ahead(next)).max(0).cast_unsigned()
    }

    /// Resets the object, with this number of places granted beyond `initial`.
    pub(crate) fn clear(&self, granted: u32) {
        self.next.store(0, Relaxed);
        self.state.store(u64::from(granted), SeqCst);
    }
}

fn bit(place: u32) -> NonZeroU32 {
    NonZeroU32::new(1 << (place % 32)).expect("one bit is set")
}

/// Returns the time on the monotonic clock when `left` has passed.
pub(crate) fn after(left: rustix::time::Timespec) -> rustix::time::Timespec {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let nanoseconds = now.tv_nsec + left.tv_nsec;
    rustix::time::Timespec {
        tv_sec: now.tv_sec + left.tv_sec + nanoseconds / 1_000_000_000,
        tv_nsec: nanoseconds % 1_000_000_000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_passes_over_the_places_that_were_given_up_and_keeps_all_else() {
        let state = |granted: u32, marks: u64, parked: u64| {
            State(u64::from(granted) + marks * MARK + parked * PARKED)
        };
        assert_eq!(state(5, 0, 3).grant(), (state(6, 0, 3), 5));
        assert_eq!(state(5, 0b1011, 3).grant(), (state(8, 0b1, 3), 7));
        let all = (1 << MARKS) - 1;
        assert_eq!(state(0, all, 0).grant(), (state(MARKS + 1, 0, 0), MARKS));
        assert_eq!(state(u32::MAX, 0b1, 7).grant(), (state(1, 0, 7), 0));
    }

    #[test]
    fn places_that_may_be_given_up_are_not_farther_ahead_than_can_be_marked() {
        let (next, state) = (AtomicU32::new(0), AtomicU64::new(0));
        let turnstile = Turnstile {
            next: &next,
            state: &state,
            initial: 1,
        };
        let held = turnstile.take();
        let taken: Vec<u32> = std::iter::from_fn(|| turnstile.take_leavable()).collect();
        assert_eq!(taken.len() as u32, MARKS);
        assert!(taken.iter().all(|&place| !turnstile.resolve(place)));
        assert!(turnstile.is_granted(held) && turnstile.take_leavable().is_none());
        turnstile.grant();
        assert!(turnstile.is_granted(turnstile.take()));
    }
}
