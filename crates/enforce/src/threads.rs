//! All enforced threads. The memory of a thread is reused for later threads when nothing refers to
//! the thread any more. So a thread that starts or ends usually does not use the heap.

use crate::blocking::Latched;
use crate::thread::{Origin, Thread};

struct Threads {
    /// All threads with memory: living threads, ended threads that are still referred to, and spare
    /// threads.
    all: Vec<&'static Thread>,
    /// Threads whose memory can be used again.
    spare: Vec<&'static Thread>,
}

static THREADS: Latched<Threads> = Latched::new(Threads {
    all: Vec::new(),
    spare: Vec::new(),
});

/// Runs a closure on the threads, including ended threads. No thread is added meanwhile.
pub(crate) fn with_all<R>(does: impl FnOnce(&[&'static Thread]) -> R) -> R {
    THREADS.with(|threads| does(&threads.all))
}

/// Adds a thread, to which nothing else refers yet.
pub(crate) fn add(origin: Origin) -> &'static Thread {
    THREADS.with(|threads| {
        let thread = threads.spare.pop().unwrap_or_else(|| {
            let thread: &'static Thread = Box::leak(Box::default());
            threads.all.push(thread);
            threads.spare.reserve(threads.all.len());
            thread
        });
        thread.begin(origin);
        thread
    })
}

/// Releases the memory of a thread for later threads, because nothing refers to the thread any
/// more.
pub(crate) fn recycle(thread: &'static Thread) {
    THREADS.with(|threads| threads.spare.push(thread));
}

/// Returns the number of threads that have memory.
#[cfg(test)]
pub(crate) fn number() -> usize {
    THREADS.with(|threads| threads.all.len())
}
