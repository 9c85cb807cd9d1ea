//! Condition variables in the memory of `pthread_cond_t`.

use super::latch::Latch;
use super::queue::{Queue, Waiter};
use super::{Deadline, Mutex};
use crate::{begin, end, enforcement};
use explore::OpKind;
use std::panic::RefUnwindSafe;

/// A condition variable. All its bytes are zero when no thread waits.
#[repr(C)]
pub struct Condvar {
    latch: Latch,
    room: u32,
    queue: Queue,
}

// SAFETY: the queue is used only under the latch.
unsafe impl Sync for Condvar {}
// SAFETY: waiting threads borrow the condition variable, so it does not move while they wait.
unsafe impl Send for Condvar {}

impl RefUnwindSafe for Condvar {}

impl Condvar {
    /// Returns a condition variable without waiters.
    pub const fn new() -> Condvar {
        Condvar {
            latch: Latch::new(),
            room: 0,
            queue: Queue::new(),
        }
    }

    /// Returns the condition variable in this memory.
    ///
    /// # Safety
    ///
    /// The memory holds a condition variable of the C library that is used through this type only.
    pub unsafe fn at<'o, T>(object: *mut T) -> &'o Condvar {
        // SAFETY: as promised by the caller. `pthread_cond_t` is at least as large as this type.
        unsafe { &*object.cast() }
    }

    /// Gives up the mutex, waits for a signal, and retakes the mutex. Returns whether a signal came
    /// in time.
    pub fn wait(&self, mutex: &Mutex, deadline: Option<Deadline>) -> bool {
        let count = mutex.lend();
        let waiter = Waiter::new(0);
        begin(OpKind::CondvarEnqueue);
        // SAFETY: the waiter stays here until it is woken or leaves the queue below.
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

    /// Ends a timed wait: gives up the wait unless the waiter was woken. Returns whether the waiter
    /// was woken. If so, the condition variable may be gone and is not used.
    fn resolve(&self, waiter: &Waiter) -> bool {
        begin(OpKind::CondvarResolve);
        let gives_up = waiter.gives_up();
        if gives_up {
            self.latch.hold(|| self.queue.remove(waiter));
        }
        end();
        !gives_up
    }

    /// Waits until waiters whose time has run out have left. The caller must make sure that no
    /// other thread uses the condition variable any more.
    pub fn destroy(&self) {
        while self.latch.hold(|| self.queue.has_leaving()) {
            std::thread::yield_now();
        }
    }

    /// Wakes one waiter: the waiter chosen by the plan or, if the plan chooses none, the waiter
    /// that has waited longest.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

    #[test]
    fn a_thread_that_was_woken_in_time_does_not_use_the_condition_variable_again() {
        let condvar = Condvar::new();
        let waiter = Waiter::new(0);
        // SAFETY: the waiter stays here until it is woken.
        condvar
            .latch
            .hold(|| unsafe { condvar.queue.push(&waiter) });
        condvar.broadcast();
        // Holds the latch, as another object in the same memory could.
        assert!(condvar.latch.hold(|| condvar.resolve(&waiter)));
    }

    #[test]
    fn a_signal_is_for_who_waits_and_not_for_who_gives_up() {
        let condvar = Condvar::new();
        let [leaving, waiting] = [0, 0].map(Waiter::new);
        for waiter in [&leaving, &waiting] {
            // SAFETY: the waiters stay here until they are woken or taken out.
            condvar.latch.hold(|| unsafe { condvar.queue.push(waiter) });
        }
        assert!(leaving.gives_up());
        condvar.signal();
        assert!(waiting.is_woken() && !leaving.is_woken());
        assert!(!waiting.gives_up(), "the waiter has been woken");
        condvar.queue.remove(&leaving);
    }

    #[test]
    fn the_end_of_a_condition_variable_waits_for_threads_that_give_up() {
        let condvar = Condvar::new();
        let waiter = Waiter::new(0);
        // SAFETY: the waiter stays here until it is taken out.
        condvar
            .latch
            .hold(|| unsafe { condvar.queue.push(&waiter) });
        assert!(waiter.gives_up());
        condvar.broadcast();
        let (begins, is_out) = (AtomicBool::new(false), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                begins.store(true, SeqCst);
                condvar.destroy();
                assert!(is_out.load(SeqCst));
            });
            while !begins.load(SeqCst) {
                std::thread::yield_now();
            }
            condvar.latch.hold(|| {
                is_out.store(true, SeqCst);
                condvar.queue.remove(&waiter);
            });
        });
    }
}
