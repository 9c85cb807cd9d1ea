//! One-time initialization, in one word. For C and C++, the word is part of the memory of
//! `pthread_once_t` or of a guard variable of C++.

use crate::gate::SPINS;
use crate::{begin, end};
use explore::OpKind;
use rustix::thread::futex;
use std::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, SeqCst},
};

/// A one-time initialization. The word is zero before any thread has entered. `DONE` has the value
/// that the C library uses.
#[repr(transparent)]
pub struct Once(AtomicU32);

const DONE: u32 = 2;
/// One thread that entered. The middle bits count these threads.
const ENTRY: u32 = 1 << 8;
/// One initialization that failed. The top bits count these failures.
const FAILURE: u32 = 1 << 20;
/// Greatest number of entries and of failures that can be counted.
const MOST: u32 = 0xfff;

/// The task of a thread that has entered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entry {
    /// Initialize, and then call `done` or `fail`.
    Initialize,
    /// Nothing: the initialization is done.
    Done,
}

impl Once {
    /// Returns an object that no thread has entered.
    pub const fn new() -> Once {
        Once(AtomicU32::new(0))
    }

    /// Returns the object in this word.
    ///
    /// # Safety
    ///
    /// The word belongs to a one-time initialization that is used through this type only.
    pub unsafe fn at<'o, T>(word: *mut T) -> &'o Once {
        // SAFETY: as promised by the caller.
        unsafe { &*word.cast() }
    }

    /// Enters, and waits as long as another thread initializes. Returns what the thread must do.
    pub fn enter(&self) -> Entry {
        begin(OpKind::OnceEnter);
        let enter = |state: u32| match state & DONE {
            0 if (state / ENTRY) & MOST < MOST => Some(state + ENTRY),
            _ => None,
        };
        let entered = self.0.fetch_update(SeqCst, SeqCst, enter);
        end();
        match entered {
            Ok(state) => self.wait((state / ENTRY) & MOST),
            Err(state) if state & DONE != 0 => Entry::Done,
            Err(_) => crate::fail(
                "more than 4,095 calls wait for a one-time initialization, or have failed to \
                 initialize; that cannot be enforced",
            ),
        }
    }

    fn wait(&self, place: u32) -> Entry {
        let state = self.wait_until(|state| state & DONE != 0 || state / FAILURE == place);
        match state & DONE {
            0 => Entry::Initialize,
            _ => Entry::Done,
        }
    }

    /// Waits until the state satisfies the predicate. Returns that state.
    fn wait_until(&self, is_so: impl Fn(u32) -> bool) -> u32 {
        let mut spins = *SPINS;
        loop {
            let state = self.0.load(Acquire);
            if is_so(state) {
                return state;
            }
            if spins > 0 {
                spins -= 1;
                std::hint::spin_loop();
                continue;
            }
            crate::publish();
            let _ = futex::wait(&self.0, futex::Flags::PRIVATE, state, None);
        }
    }

    /// Checks whether an initialization has failed. Only threads that have entered may call this.
    pub fn has_failed(&self) -> bool {
        self.0.load(Acquire) >= FAILURE
    }

    /// Checks whether the initialization is done, without waiting.
    pub fn is_done(&self) -> bool {
        begin(OpKind::OnceGet);
        let state = self.0.load(SeqCst);
        end();
        state & DONE != 0
    }

    /// Waits until another thread has completed the initialization. Returns false if the attempt of
    /// that thread fails, or if the last attempt failed and no thread has entered since then.
    pub fn wait_for_other(&self) -> bool {
        begin(OpKind::OnceGet);
        let state = self.0.load(SeqCst);
        end();
        let failures = state / FAILURE;
        if state & DONE == 0 && failures > 0 && (state / ENTRY) & MOST == failures {
            return false;
        }
        self.wait_until(|state| state & DONE != 0 || state / FAILURE > failures) & DONE != 0
    }

    /// Waits until another thread has completed the initialization, even if attempts fail before.
    pub fn wait_until_done(&self) {
        self.wait_until(|state| state & DONE != 0);
    }

    /// Records that the initialization is done.
    pub fn done(&self) {
        begin(OpKind::OnceDone);
        self.0.fetch_or(DONE, SeqCst);
        end();
        self.wake();
    }

    /// Records that the initialization failed. The thread that entered next has to initialize.
    pub fn fail(&self) {
        begin(OpKind::OnceDone);
        self.0.fetch_add(FAILURE, SeqCst);
        end();
        self.wake();
    }

    fn wake(&self) {
        let _ = futex::wake(&self.0, futex::Flags::PRIVATE, i32::MAX as u32);
    }
}

impl Default for Once {
    fn default() -> Once {
        Once::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_waiting_thread_learns_of_failures() {
        let once = &Once::new();
        assert!(!once.is_done() && !once.has_failed());
        assert_eq!(once.enter(), Entry::Initialize);
        once.fail();
        assert!(once.has_failed() && !once.wait_for_other());
        std::thread::scope(|scope| {
            assert_eq!(once.enter(), Entry::Initialize);
            let other = scope.spawn(|| once.wait_for_other());
            scope.spawn(|| once.wait_until_done());
            once.done();
            assert!(other.join().unwrap() && once.is_done());
        });
    }

    #[test]
    fn one_initializes_and_after_a_failure_the_next() {
        let once = &Once(AtomicU32::new(0));
        let tries = &AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| match once.enter() {
                    Entry::Initialize if tries.fetch_add(1, SeqCst) < 2 => once.fail(),
                    Entry::Initialize => once.done(),
                    Entry::Done => assert_eq!(tries.load(SeqCst), 3),
                });
            }
        });
        assert_eq!(tries.load(SeqCst), 3);
        assert_eq!(once.enter(), Entry::Done);
    }
}
