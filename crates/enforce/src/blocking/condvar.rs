//! Condition variables in the memory of `pthread_cond_t`.

use super::latch::Latch;
use super::queue::{Queue, Waiter};
use super::{Deadline, Mutex};
use crate::{begin, end, enforcement};
use explore::OpKind;
use std::panic::RefUnwindSafe;

/// A condition variable. All zeroes when nobody waits.
#[repr(C)]
pub struct Condvar {
    latch: Latch,
    room: u32,
    queue: Queue,
}

// SAFETY: the queue is used under the latch.
unsafe impl Sync for Condvar {}
// SAFETY: who waits borrows it, so that it does not move meanwhile.
unsafe impl Send for Condvar {}

impl RefUnwindSafe for Condvar {}

impl Condvar {
    /// One that nobody waits for.
    pub const fn new() -> Condvar {
        Condvar {
            latch: Latch::new(),
            room: 0,
            queue: Queue::new(),
        }
    }

    /// The condition variable in this memory.
    ///
    /// # Safety
    ///
    /// There is a condition variable of the C library, which nobody uses by other functions.
    pub unsafe fn at<'o, T>(object: *mut T) -> &'o Condvar {
        // SAFETY: as promised by the caller; the object has at least so many bytes.
        unsafe { &*object.cast() }
    }

    /// Gives up the mutex, waits for a signal and takes the mutex again; whether a signal came in time.
    pub fn wait(&self, mutex: &Mutex, deadline: Option<Deadline>) -> bool {
        let count = mutex.lend();
        let waiter = Waiter::new(0);
        begin(OpKind::CondvarEnqueue);
        // SAFETY: the waiter stays here until it is woken, or leaves the queue below.
        self.latch.hold(|| unsafe { self.queue.push(&waiter) });
        end();
        mutex.release();
        let is_signalled = match deadline {
            None => {
                waiter.wait(None);
                true
            }
            Some(deadline) => {
                if !enforcement::decides_next() {
                    waiter.wait(Some(deadline));
                }
                self.resolve(&waiter)
            }
        };
        mutex.request();
        mutex.take_back(count);
        is_signalled
    }

    fn resolve(&self, waiter: &Waiter) -> bool {
        begin(OpKind::CondvarResolve);
        let is_signalled = self.latch.hold(|| {
            let is_signalled = waiter.is_woken();
            if !is_signalled {
                self.queue.remove(waiter);
            }
            is_signalled
        });
        end();
        is_signalled
    }

    /// Wakes one waiter: the chosen one, or who waits longest.
    pub fn signal(&self) {
        begin(OpKind::CondvarSignal);
        let others = enforcement::alternative() as usize;
        let woken = self.latch.hold(|| self.queue.take(others, |_| true));
        end();
        if let Some(woken) = woken {
            woken.wake();
        }
    }

    /// Wakes all waiters.
    pub fn broadcast(&self) {
        begin(OpKind::CondvarBroadcast);
        let mut woken = Vec::new();
        self.latch
            .hold(|| woken.extend(std::iter::from_fn(|| self.queue.take(0, |_| true))));
        end();
        woken.into_iter().for_each(super::queue::Woken::wake);
    }
}

impl Default for Condvar {
    fn default() -> Condvar {
        Condvar::new()
    }
}
