//! Queues of waiting threads. Each waiting thread has a node on its stack, and a latch protects the
//! list of nodes.

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

/// A waiting thread.
pub(crate) struct Waiter {
    next: Cell<*const Waiter>,
    /// Once the state is `WOKEN`, the thread may go on, and this memory may be gone.
    state: AtomicU32,
    /// What the thread waits for: a number that only the owner of the queue interprets.
    pub(crate) what: usize,
}

const WAITS: u32 = 0;
const WOKEN: u32 = 1;
/// The deadline has passed, and the thread is about to remove itself.
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

    /// Gives up the wait: no other thread wakes this waiter any more, and the caller must remove
    /// it. Returns false if the waiter has already been woken.
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

    /// Waits until the thread is woken or the deadline has passed.
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

/// The list, in the order of arrival. All its bytes are zero when the list is empty.
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

    /// Returns the `what` of the first waiter, or `None` if the queue is empty.
    pub(crate) fn first(&self) -> Option<usize> {
        // SAFETY: waiters do not leave their wait before they are removed.
        unsafe { self.first.get().as_ref() }.map(|waiter| waiter.what)
    }

    /// Adds a waiter at the end of the queue.
    ///
    /// # Safety
    ///
    /// The waiter does not move until it is woken or removed.
    pub(crate) unsafe fn push(&self, waiter: &Waiter) {
        let added = ptr::from_ref(waiter);
        // SAFETY: as in `first`.
        match unsafe { self.last.get().as_ref() } {
            Some(last) => last.next.set(added),
            None => self.first.set(added),
        }
        self.last.set(added);
    }

    /// Removes the first wanted waiter after skipping `others` wanted waiters, and marks it as
    /// woken. Passes over waiters that have given up. Returns `None` if too few waiters are left.
    /// The caller wakes its thread through the result, outside the latch.
    pub(crate) fn take(&self, others: usize, is_wanted: impl Fn(usize) -> bool) -> Option<Woken> {
        let mut left = others;
        let mut before: Option<&Waiter> = None;
        // SAFETY: as in `first`.
        let mut next = unsafe { self.first.get().as_ref() };
        while let Some(waiter) = next {
            // Read before the waiter is woken, because its memory may be gone then.
            let following = waiter.next.get();
            if is_wanted(waiter.what) && !waiter.is_leaving() {
                if left == 0
                    && let Some(woken) = Woken::of(waiter)
                {
                    self.unlink(before, waiter, following);
                    return Some(woken);
                }
                left = left.saturating_sub(1);
            }
            before = Some(waiter);
            // SAFETY: as in `first`.
            next = unsafe { following.as_ref() };
        }
        None
    }

    /// Checks whether a waiter in the queue has given up.
    pub(crate) fn has_leaving(&self) -> bool {
        // SAFETY: as in `first`.
        let first = unsafe { self.first.get().as_ref() };
        // SAFETY: as in `first`.
        let next = |waiter: &&Waiter| unsafe { waiter.next.get().as_ref() };
        std::iter::successors(first, next).any(Waiter::is_leaving)
    }

    /// Removes a waiter that has given up.
    pub(crate) fn remove(&self, leaving: &Waiter) {
        let mut before: Option<&Waiter> = None;
        // SAFETY: as in `first`.
        let mut next = unsafe { self.first.get().as_ref() };
        while let Some(waiter) = next {
            if ptr::eq(waiter, leaving) {
                return self.unlink(before, waiter, waiter.next.get());
            }
            before = Some(waiter);
            // SAFETY: as in `first`.
            next = unsafe { waiter.next.get().as_ref() };
        }
    }

    /// Removes a waiter, whose memory may be gone, from between its neighbours.
    fn unlink(&self, before: Option<&Waiter>, waiter: *const Waiter, following: *const Waiter) {
        match before {
            Some(before) => before.next.set(following),
            None => self.first.set(following),
        }
        if ptr::eq(self.last.get(), waiter) {
            self.last.set(before.map_or(ptr::null(), ptr::from_ref));
        }
    }
}

/// Wakes threads parked at this address with one of these bits. The memory may be gone or reused.
pub(crate) fn wake_at(word: *const u32, bits: u32) {
    const FUTEX: usize = 202;
    const WAKE_BITSET_PRIVATE: usize = 10 | 128;
    // SAFETY: the kernel accepts any address.
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

/// A waiter that was removed and marked as woken, but may still be parked.
#[must_use]
pub(crate) struct Woken(*const AtomicU32);

impl Woken {
    /// Marks the waiter as woken. Returns `None` if the waiter has given up meanwhile.
    fn of(waiter: &Waiter) -> Option<Woken> {
        let word = ptr::from_ref(&waiter.state);
        waiter.becomes(WOKEN).then_some(Woken(word))
    }

    /// Wakes the thread if it is parked. The memory may have been reused by another waiter. This is
    /// harmless, because parked threads check their state when they are woken.
    pub(crate) fn wake(self) {
        wake_at(self.0.cast(), u32::MAX);
    }
}
