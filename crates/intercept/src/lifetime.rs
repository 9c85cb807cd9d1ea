//! Initialisation and destruction of synchronisation objects of POSIX.
//!
//! Both are writes of the object. They race with uses by other threads that nothing orders. Whether an object was initialised by
//! a call, or destroyed, is written into the object itself, where the C library keeps nothing. A static initialiser overwrites
//! the mark, and so makes a new object of one that was destroyed.

use crate::gate::is_inside;
use crate::heap;
use crate::source_map::place;
use report::FailureKind;
use runtime::native;

/// A kind of object.
pub(crate) struct Kind {
    name: &'static str,
    /// Bytes of an object.
    size: usize,
    /// Where the C library keeps nothing, in bytes from the beginning of an object.
    offset: usize,
    /// There is a static initialiser: an object need not be initialised by a call.
    is_static: bool,
}

pub(crate) const MUTEX: Kind = Kind {
    name: "mutex",
    size: 40,
    offset: 32,
    is_static: true,
};

pub(crate) const CONDVAR: Kind = Kind {
    name: "condition variable",
    size: 48,
    offset: 40,
    is_static: true,
};

pub(crate) const RWLOCK: Kind = Kind {
    name: "reader-writer lock",
    size: 56,
    offset: 40,
    is_static: true,
};

pub(crate) const SEMAPHORE: Kind = Kind {
    name: "semaphore",
    size: 32,
    offset: 24,
    is_static: false,
};

pub(crate) const BARRIER: Kind = Kind {
    name: "barrier",
    size: 32,
    offset: 24,
    is_static: false,
};

/// Marks of an object that was initialised by a call, and of one that was destroyed.
const INITIALISED: u64 = 0x6d61_7a75_726b_6131;
const DESTROYED: u64 = 0x6d61_7a75_726b_6132;

impl Kind {
    fn mark(&self, object: usize) -> *mut u64 {
        std::ptr::with_exposed_provenance_mut(object + self.offset)
    }

    fn mark_of(&self, object: usize) -> u64 {
        // SAFETY: there is memory for an object of this kind.
        unsafe { self.mark(object).read_unaligned() }
    }

    /// The program is about to initialise an object.
    pub(crate) fn begins(&self, object: usize, code: usize) {
        heap::check_object(object, code);
        self.check_waits(object, "initialised", code);
        if self.mark_of(object) == INITIALISED {
            check_first(self.name, object, code);
        }
        native::initialise(object, code);
        // SAFETY: there is memory for an object of this kind.
        unsafe { native::changes(object, self.size) };
    }

    /// The C library has initialised an object, which has a mark only in a check if there is a static initialiser.
    pub(crate) fn has_begun(&self, object: usize) {
        if self.is_static && !is_inside() {
            return;
        }
        // SAFETY: there is an object of this kind.
        unsafe { self.mark(object).write_unaligned(INITIALISED) };
    }

    /// The program destroys an object.
    pub(crate) fn ends(&self, object: usize, code: usize) {
        self.check(object, code);
        self.check_waits(object, "destroyed", code);
        native::destroy(object, code);
        // SAFETY: there is an object of this kind.
        unsafe {
            native::changes(object, self.size);
            self.mark(object).write_unaligned(DESTROYED);
        }
    }

    /// The program does something to an object that no thread may wait for.
    fn check_waits(&self, object: usize, done: &str, code: usize) {
        if native::is_waited_for(object) {
            let message = format!("a {} is {done} while a thread waits for it", self.name);
            native::fail(code, FailureKind::Misuse, message);
        }
    }

    /// The program uses an object, which must be there.
    pub(crate) fn check(&self, object: usize, code: usize) {
        heap::check_object(object, code);
        let what = match self.mark_of(object) {
            DESTROYED => "destroyed",
            INITIALISED => return,
            heap::UNWRITTEN => "never initialised",
            _ if self.is_static => return,
            _ => "never initialised",
        };
        let message = format!("a {} is used that was {what}", self.name);
        native::fail(code, FailureKind::Misuse, message)
    }
}

/// The program initialises an object that seems to be there already: it is, if it was initialised here and not destroyed.
pub(crate) fn check_first(name: &str, object: usize, code: usize) {
    if let Some(first) = native::initialised_at(object) {
        let place = place(first).map_or_else(String::new, |place| format!(" at {place}"));
        let message =
            format!("a {name} is initialised again that was initialised{place} and not destroyed");
        native::fail(code, FailureKind::Misuse, message)
    }
}
