//! What is done once, in one word of the memory of `pthread_once_t`, or of a guard of C++.

use crate::gate::SPINS;
use crate::{begin, end};
use explore::OpKind;
use rustix::thread::futex;
use std::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, SeqCst},
};

/// A once. Zero when nobody has come. Done is what the C library calls so.
#[repr(transparent)]
pub struct Once(AtomicU32);

const DONE: u32 = 2;
/// One who entered, in the middle.
const ENTRY: u32 = 1 << 8;
/// One who failed, at the top.
const FAILURE: u32 = 1 << 20;
const MOST: u32 = 0xfff;

/// What a thread that entered has to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entry {
    /// Initialise, and then call `done` or `fail`.
    Initialise,
    /// Nothing: it is done.
    Done,
}

impl Once {
    /// The once in this word.
    ///
    /// # Safety
    ///
    /// The word is that of a once, which nobody uses by other functions.
    pub unsafe fn at<'o, T>(word: *mut T) -> &'o Once {
        // SAFETY: as promised by the caller.
        unsafe { &*word.cast() }
    }

    /// Enters; waits for the initialiser if there is one.
    pub fn enter(&self) -> Entry {
        begin(OpKind::OnceEnter);
        let enter = |state: u32| match state & DONE {
            0 => Some(state + ENTRY),
            _ => None,
        };
        let entered = self.0.fetch_update(SeqCst, SeqCst, enter);
        end();
        match entered {
            Ok(state) => self.wait((state / ENTRY) & MOST),
            Err(_) => Entry::Done,
        }
    }

    fn wait(&self, place: u32) -> Entry {
        let mut spins = *SPINS;
        loop {
            let state = self.0.load(Acquire);
            if state & DONE != 0 {
                return Entry::Done;
            }
            if state / FAILURE == place {
                return Entry::Initialise;
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

    /// The initialisation is done.
    pub fn done(&self) {
        begin(OpKind::OnceDone);
        self.0.fetch_or(DONE, SeqCst);
        end();
        self.wake();
    }

    /// The initialisation failed: the next who entered has to do it.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_initialises_and_after_a_failure_the_next() {
        let once = &Once(AtomicU32::new(0));
        let tries = &AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| match once.enter() {
                    Entry::Initialise if tries.fetch_add(1, SeqCst) < 2 => once.fail(),
                    Entry::Initialise => once.done(),
                    Entry::Done => assert_eq!(tries.load(SeqCst), 3),
                });
            }
        });
        assert_eq!(tries.load(SeqCst), 3);
        assert_eq!(once.enter(), Entry::Done);
    }
}
