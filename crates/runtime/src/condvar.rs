//! Condition variables.

use crate::Mutex;

/// A condition variable.
#[derive(Debug)]
pub struct Condvar {}

impl Condvar {
    /// A new condition variable of the execution.
    #[track_caller]
    pub fn new() -> Condvar {
        todo!()
    }

    /// Gives up the mutex, which the thread holds, waits for a signal and locks the mutex again.
    #[track_caller]
    pub fn wait(&self, _mutex: &Mutex) {
        todo!()
    }

    /// Like `wait`, for some time; whether it was signalled.
    #[track_caller]
    pub fn wait_timed(&self, _mutex: &Mutex) -> bool {
        todo!()
    }

    /// Wakes one waiter, any of them.
    #[track_caller]
    pub fn signal(&self) {
        todo!()
    }

    /// Wakes all waiters.
    #[track_caller]
    pub fn broadcast(&self) {
        todo!()
    }
}
