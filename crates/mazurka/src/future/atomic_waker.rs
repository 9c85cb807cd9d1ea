//! A cell for the waker of a task, as `futures::task::AtomicWaker` and `loom::future::AtomicWaker`.

use std::fmt;
use std::sync::atomic::Ordering::AcqRel;
use std::sync::{Mutex, PoisonError};
use std::task::Waker;

/// Holds the waker of a task while others may wake it. Each operation is one event, so that a wake comes before a
/// registration or finds what it registered, as the implementations promise.
pub struct AtomicWaker {
    /// Whether there is a waker; what is done with the cell is done in the order of its events.
    is_set: runtime::Atomic<bool>,
    waker: Mutex<Option<Waker>>,
}

impl AtomicWaker {
    /// Without a waker.
    #[track_caller]
    pub fn new() -> AtomicWaker {
        AtomicWaker {
            is_set: runtime::Atomic::new(false),
            waker: Mutex::new(None),
        }
    }

    /// One that the program does not see.
    pub(super) fn internal(name: &str) -> AtomicWaker {
        AtomicWaker {
            is_set: runtime::Atomic::internal(false, name),
            waker: Mutex::new(None),
        }
    }

    /// The next [`wake`](AtomicWaker::wake) calls this waker, in the place of the one before.
    #[track_caller]
    pub fn register(&self, waker: Waker) {
        self.is_set.modify("register", AcqRel, |_| true);
        drop(self.replace(Some(waker)));
    }

    /// The same with a clone of the waker.
    #[track_caller]
    pub fn register_by_ref(&self, waker: &Waker) {
        self.register(waker.clone());
    }

    /// Takes the waker and calls it, if there is one.
    #[track_caller]
    pub fn wake(&self) {
        if let Some(waker) = self.take_waker() {
            waker.wake();
        }
    }

    /// Takes the waker.
    #[track_caller]
    pub fn take_waker(&self) -> Option<Waker> {
        self.is_set.modify("take_waker", AcqRel, |_| false);
        self.replace(None)
    }

    /// Never contended: no thread is suspended in here.
    fn replace(&self, waker: Option<Waker>) -> Option<Waker> {
        let mut own = self.waker.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *own, waker)
    }
}

impl Default for AtomicWaker {
    #[track_caller]
    fn default() -> AtomicWaker {
        AtomicWaker::new()
    }
}

impl fmt::Debug for AtomicWaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtomicWaker").finish_non_exhaustive()
    }
}
