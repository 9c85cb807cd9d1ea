//! A cell for a task's waker, like `futures::task::AtomicWaker` and `loom::future::AtomicWaker`.

use crate::sync::constructor::{constructor, named};
use runtime::{Placed, Settle, Settling};
use std::fmt;
use std::panic::Location;
use std::sync::atomic::Ordering::AcqRel;
use std::sync::{Mutex, PoisonError};
use std::task::Waker;

/// Holds the waker of a task while other threads may call it. Each operation is one event. So a
/// wake either comes before a registration or finds the registered waker, as real implementations
/// guarantee.
pub struct AtomicWaker(Placed<Registered>);

struct Registered {
    /// Whether there is a waker. In a model, each operation on the cell is one event of this
    /// variable.
    is_set: runtime::Atomic<bool>,
    waker: Mutex<Option<Waker>>,
}

impl AtomicWaker {
    constructor! {
        /// Creates a cell without a waker.
        pub fn new() -> AtomicWaker {
            AtomicWaker::of(runtime::Atomic::new(false))
        }
    }

    /// Creates a cell for internal use of this library, with a name for traces.
    #[track_caller]
    pub(super) fn internal(name: &str) -> AtomicWaker {
        AtomicWaker::of(runtime::Atomic::internal(false, name))
    }

    const fn of(is_set: runtime::Atomic<bool>) -> AtomicWaker {
        AtomicWaker(Placed::new(Registered {
            is_set,
            waker: Mutex::new(None),
        }))
    }

    named!(|inner| inner.is_set);

    /// Sets the waker that the next [`wake`](AtomicWaker::wake) calls. Replaces the previous one.
    #[track_caller]
    pub fn register(&self, waker: Waker) {
        let inner = self.0.get();
        drop(inner.exchange("register", Some(waker)));
    }

    /// Registers a clone of the waker: see [`register`](AtomicWaker::register).
    #[track_caller]
    pub fn register_by_ref(&self, waker: &Waker) {
        self.register(waker.clone());
    }

    /// Takes the waker and calls it, if there is one.
    #[track_caller]
    pub fn wake(&self) {
        if let Some(waker) = self.take_waker() {
            let before = runtime::stand_at(Some(Location::caller()));
            waker.wake();
            runtime::stand_at(before);
        }
    }

    /// Removes and returns the waker.
    #[track_caller]
    pub fn take_waker(&self) -> Option<Waker> {
        let inner = self.0.get();
        inner.exchange("take_waker", None)
    }
}

impl Registered {
    /// Replaces the waker and returns the previous one. In a model, this is one event.
    #[track_caller]
    fn exchange(&self, name: &'static str, waker: Option<Waker>) -> Option<Waker> {
        if runtime::is_outside() {
            return runtime::modify_outside(|| self.replace(waker));
        }
        let is_there = waker.is_some();
        self.is_set.modify(name, AcqRel, |_| is_there);
        runtime::in_object(|| self.replace(waker))
    }

    /// Replaces the waker and returns the previous one. In a model, the mutex is never contended,
    /// because no thread is suspended while it holds the mutex.
    fn replace(&self, waker: Option<Waker>) -> Option<Waker> {
        let mut current = self.waker.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *current, waker)
    }
}

impl Settle for Registered {
    #[inline(always)]
    fn is_settled(&self) -> bool {
        self.is_set.is_settled()
    }

    fn settle(&self, settling: &Settling) {
        self.is_set.settle(settling);
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
