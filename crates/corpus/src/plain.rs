//! A plain variable, as C has them: nothing orders its accesses, so two of them that are unordered and
//! not both reads are a data race.

use mazurka::cell::UnsafeCell;

/// A plain variable that threads share without a lock. Only for programs under test: the checker runs
/// all their threads on one thread of the system and reports the race instead of performing it.
pub(crate) struct Plain<T>(UnsafeCell<T>);

// SAFETY: the threads of a program under test take turns on one thread of the system, and `get` and
// `set` finish within a turn.
unsafe impl<T: Send> Sync for Plain<T> {}

impl<T: Copy> Plain<T> {
    pub(crate) fn new(value: T) -> Plain<T> {
        Plain(UnsafeCell::new(value))
    }

    #[track_caller]
    pub(crate) fn get(&self) -> T {
        // SAFETY: the pointer is valid during the call, and nobody writes during this turn.
        self.0.with(|value| unsafe { *value })
    }

    #[track_caller]
    pub(crate) fn set(&self, new: T) {
        // SAFETY: the pointer is valid during the call, and nobody else has access during this turn.
        self.0.with_mut(|value| unsafe { *value = new });
    }
}
