//! Initialization and destruction of synchronization objects of POSIX.
//!
//! Both are writes to the object, and race with unordered uses by other threads. A mark in an
//! object, where the C library stores nothing, records that a call initialized or destroyed the
//! object. A static initializer overwrites the mark, and thus turns a destroyed object into a new
//! object.

use crate::gate::is_inside;
use crate::heap;
use crate::source_map::place;
use report::FailureKind;
use runtime::native;

/// A kind of object.
pub(crate) struct Kind {
    name: &'static str,
    /// Size of an object in bytes.
    size: usize,
    /// Offset in bytes of the mark, where the C library stores nothing.
    offset: usize,
    /// Whether a static initializer exists, so that an object need not be initialized by a call.
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

/// Marks of an object that a call has initialized, and of an object that was destroyed.
const INITIALISED: u64 = 0x6d61_7a75_726b_6131;
const DESTROYED: u64 = 0x6d61_7a75_726b_6132;

impl Kind {
    fn mark(&self, object: usize) -> *mut u64 {
        std::ptr::with_exposed_provenance_mut(object + self.offset)
    }

    fn mark_of(&self, object: usize) -> u64 {
        // SAFETY: the memory has the size of an object of this kind.
        unsafe { self.mark(object).read_unaligned() }
    }

    /// Reports that the program is about to initialize an object. Fails if the object is in use or
    /// already initialized.
    pub(crate) fn begins(&self, object: usize, code: usize) {
        heap::check_object(object, code);
        self.check_waits(object, "initialized", code);
        if self.mark_of(object) == INITIALISED {
            check_first(self.name, object, code);
        }
        native::initialize(object, code);
        // SAFETY: the memory has the size of an object of this kind.
        unsafe { native::changes(object, self.size) };
    }

    /// Marks an object that the C library has initialized. Kinds with a static initializer are
    /// marked only in a check.
    pub(crate) fn has_begun(&self, object: usize) {
        if self.is_static && !is_inside() {
            return;
        }
        // SAFETY: an object of this kind is there.
        unsafe { self.mark(object).write_unaligned(INITIALISED) };
    }

    /// Reports that the program destroys an object.
    pub(crate) fn ends(&self, object: usize, code: usize) {
        self.check(object, code);
        self.check_waits(object, "destroyed", code);
        native::destroy(object, code);
        // SAFETY: an object of this kind is there.
        unsafe {
            native::changes(object, self.size);
            self.mark(object).write_unaligned(DESTROYED);
        }
    }

    /// Fails if a thread waits for the object, which is about to be initialized or destroyed.
    fn check_waits(&self, object: usize, done: &str, code: usize) {
        if native::is_waited_for(object) {
            let message = format!("a {} is {done} while a thread waits for it", self.name);
            native::fail(code, FailureKind::Misuse, message);
        }
    }

    /// Checks the use of an object. Fails if its memory is not allocated, or if the object was
    /// destroyed or never initialized.
    pub(crate) fn check(&self, object: usize, code: usize) {
        heap::check_object(object, code);
        let what = match self.mark_of(object) {
            DESTROYED => "destroyed",
            INITIALISED => return,
            heap::UNWRITTEN => "never initialized",
            _ if self.is_static => return,
            _ => "never initialized",
        };
        let message = format!("use of a {} that was {what}", self.name);
        native::fail(code, FailureKind::Misuse, message)
    }
}

/// Fails if a call has already initialized the marked object and no call has destroyed it.
pub(crate) fn check_first(name: &str, object: usize, code: usize) {
    if let Some(first) = native::initialized_at(object) {
        let place = place(first).map_or_else(String::new, |place| format!(" at {place}"));
        let message = format!(
            "a {name} is initialized again after it was initialized{place} and not destroyed"
        );
        native::fail(code, FailureKind::Misuse, message)
    }
}
