//! Threads that wait in an order of their own: each is a node on its stack, in a list that a latch guards.

use super::Deadline;
use super::turnstile::after;
use crate::gate::SPINS;
use rustix::thread::futex;
use std::cell::Cell;
use std::panic::RefUnwindSafe;
use std::ptr;
use std::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, SeqCst},
};

/// A thread that waits.
pub(crate) struct Waiter {
    next: Cell<*const Waiter>,
    /// Whoever wakes it may find its memory gone: it leaves by what is stored here.
    state: AtomicU32,
    /// What it waits for: a number of the queue's owner.
    pub(crate) what: usize,
}

const WAITS: u32 = 0;
const WOKEN: u32 = 1;
/// Its time is over, and it is about to take itself out.
const GIVES_UP: u32 = 2;

impl RefUnwindSafe for Waiter {}

impl Waiter {
    pub(crate) fn new(what: usize) -> Waiter {
        Waiter {
            next: Cell::new(ptr::null()),
            state: AtomicU32::new(WAITS),
            what,
        }
    }

    pub(crate) fn is_woken(&self) -> bool {
        self.state.load(Acquire) == WOKEN
    }

    /// It gives up; false if it has been woken. From here on nobody wakes it, and it has to be taken out.
    pub(crate) fn gives_up(&self) -> bool {
        self.becomes(GIVES_UP)
    }

    fn is_leaving(&self) -> bool {
        self.state.load(Acquire) == GIVES_UP
    }

    fn becomes(&self, state: u32) -> bool {
        self.state
            .compare_exchange(WAITS, state, SeqCst, Acquire)
            .is_ok()
    }

    /// Waits until it is woken, or the time is over.
    pub(crate) fn wait(&self, deadline: Option<Deadline>) {
        crate::publish();
        for _ in 0..*SPINS {
            if self.is_woken() {
                return;
            }
            std::hint::spin_loop();
        }
        while !self.is_woken() {
            let left = deadline.map(|deadline| deadline.left());
            if let Some(None) = left {
                return;
            }
            let until = left.flatten().map(after);
            let any = std::num::NonZeroU32::MAX;
            let _ = futex::wait_bitset(
                &self.state,
                futex::Flags::PRIVATE,
                WAITS,
                until.as_ref(),
                any,
            );
        }
    }
}

/// The list, first come first. All zeroes when it is empty.
#[repr(C)]
pub(crate) struct Queue {
    first: Cell<*const Waiter>,
    last: Cell<*const Waiter>,
}

impl Queue {
    pub(crate) const fn new() -> Queue {
        Queue {
            first: Cell::new(ptr::null()),
            last: Cell::new(ptr::null()),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first.get().is_null()
    }

    /// The first waiter's `what`.
    pub(crate) fn first(&self) -> Option<usize> {
        // SAFETY: who waits is in its wait until it is taken out.
        unsafe { self.first.get().as_ref() }.map(|waiter| waiter.what)
    }

    /// # Safety
    ///
    /// The waiter stays where it is until it is woken or taken out.
    pub(crate) unsafe fn push(&self, waiter: &Waiter) {
        let added = ptr::from_ref(waiter);
        // SAFETY: as in `first`.
        match unsafe { self.last.get().as_ref() } {
            Some(last) => last.next.set(added),
            None => self.first.set(added),
        }
        self.last.set(added);
    }

    /// Takes out and wakes the first that is wanted, after as many others that are; whether there was one. The wakeup
    /// itself is done by the result, outside of the latch.
    pub(crate) fn take(&self, others: usize, is_wanted: impl Fn(usize) -> bool) -> Option<Woken> {
        let mut left = others;
        let mut before: Option<&Waiter> = None;
        // SAFETY: as in `first`.
        let mut next = unsafe { self.first.get().as_ref() };
        while let Some(waiter) = next {
            if is_wanted(waiter.what) && !waiter.is_leaving() {
                if left == 0
                    && let Some(woken) = Woken::of(waiter)
                {
                    self.unlink(before, waiter);
                    return Some(woken);
                }
                left = left.saturating_sub(1);
            }
            before = Some(waiter);
            // SAFETY: as in `first`.
            next = unsafe { waiter.next.get().as_ref() };
        }
        None
    }

    /// Whether somebody is in it who gives up.
    pub(crate) fn has_leaving(&self) -> bool {
        // SAFETY: as in `first`.
        let first = unsafe { self.first.get().as_ref() };
        // SAFETY: as in `first`.
        let next = |waiter: &&Waiter| unsafe { waiter.next.get().as_ref() };
        std::iter::successors(first, next).any(Waiter::is_leaving)
    }

    /// Takes out this waiter, which gives up.
    pub(crate) fn remove(&self, leaving: &Waiter) {
        let mut before: Option<&Waiter> = None;
        // SAFETY: as in `first`.
        let mut next = unsafe { self.first.get().as_ref() };
        while let Some(waiter) = next {
            if ptr::eq(waiter, leaving) {
                return self.unlink(before, waiter);
            }
            before = Some(waiter);
            // SAFETY: as in `first`.
            next = unsafe { waiter.next.get().as_ref() };
        }
    }

    fn unlink(&self, before: Option<&Waiter>, waiter: &Waiter) {
        match before {
            Some(before) => before.next.set(waiter.next.get()),
            None => self.first.set(waiter.next.get()),
        }
        if ptr::eq(self.last.get(), waiter) {
            self.last.set(before.map_or(ptr::null(), ptr::from_ref));
        }
    }
}

/// Wakes those who are parked at this address with one of these bits. What is there may be another's by now, or nobody's.
pub(crate) fn wake_at(word: *const u32, bits: u32) {
    const FUTEX: usize = 202;
    const WAKE_BITSET_PRIVATE: usize = 10 | 128;
    // SAFETY: the system takes any address.
    unsafe {
        std::arch::asm!(
            "syscall",
            inout("rax") FUTEX => _,
            in("rdi") word,
            in("rsi") WAKE_BITSET_PRIVATE,
            in("rdx") i32::MAX,
            in("r9") bits,
            out("rcx") _,
            out("r11") _,
            options(nostack),
        );
    }
}

/// A waiter that was taken out: it knows, but may be parked.
#[must_use]
pub(crate) struct Woken(*const AtomicU32);

impl Woken {
    /// None if the waiter has given up meanwhile.
    fn of(waiter: &Waiter) -> Option<Woken> {
        let word = ptr::from_ref(&waiter.state);
        waiter.becomes(WOKEN).then_some(Woken(word))
    }

    /// Wakes it if it is parked. Its memory may be another's by now: whoever parks looks again when it is woken.
    pub(crate) fn wake(self) {
        wake_at(self.0.cast(), u32::MAX);
    }
}
