//! All threads that are enforced, and the memory of those that nobody can name any more, which later ones use again: a
//! thread that starts or ends asks the heap for nothing.

use crate::blocking::Latch;
use crate::thread::Thread;
use std::cell::UnsafeCell;

/// The threads that live, and with records those that have lived.
struct Threads {
    latch: Latch,
    inner: UnsafeCell<Inner>,
}

struct Inner {
    list: Vec<&'static Thread>,
    /// Has room for all threads at once.
    #[expect(clippy::vec_box, reason = "their addresses stay")]
    spare: Vec<Box<Thread>>,
    /// As many have memory.
    number: usize,
}

// SAFETY: what is inside is used under the latch.
unsafe impl Sync for Threads {}

static THREADS: Threads = Threads {
    latch: Latch::new(),
    inner: UnsafeCell::new(Inner {
        list: Vec::new(),
        spare: Vec::new(),
        number: 0,
    }),
};

fn with_inner<R>(does: impl FnOnce(&mut Inner) -> R) -> R {
    THREADS.latch.hold(|| {
        // SAFETY: under the latch, and nothing that is done here comes back.
        does(unsafe { &mut *THREADS.inner.get() })
    })
}

/// Does something with the threads, none of which ends meanwhile.
pub(crate) fn with_all<R>(does: impl FnOnce(&mut Vec<&'static Thread>) -> R) -> R {
    with_inner(|inner| does(&mut inner.list))
}

/// The thread is one of them from here on.
pub(crate) fn add(thread: Thread) -> &'static Thread {
    with_inner(|inner| {
        let own = match inner.spare.pop() {
            Some(mut spare) => {
                *spare = thread;
                spare
            }
            None => {
                inner.number += 1;
                inner.spare.reserve(inner.number);
                Box::new(thread)
            }
        };
        let own: &'static Thread = Box::leak(own);
        inner.list.push(own);
        own
    })
}

/// Its memory may be used again.
///
/// # Safety
///
/// The thread is from [`add`] and not among those that live, and nobody can name it any more.
pub(crate) unsafe fn recycle(thread: &'static Thread) {
    let thread = std::ptr::from_ref(thread).cast_mut();
    // SAFETY: `add` leaked a box, and as promised by the caller this is the only reference.
    let spare = unsafe { Box::from_raw(thread) };
    with_inner(|inner| inner.spare.push(spare));
}

/// As many threads have memory.
#[cfg(test)]
pub(crate) fn number() -> usize {
    with_inner(|inner| inner.number)
}
