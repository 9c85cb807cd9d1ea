//! All threads that are enforced, and the memory of those that nobody can name any more, which later ones use again: a
//! thread that starts or ends asks the heap for nothing.

use crate::blocking::Latched;
use crate::thread::{Origin, Thread};

struct Threads {
    /// All that have memory: those that live, those that somebody can name, and those that are spare.
    all: Vec<&'static Thread>,
    spare: Vec<&'static Thread>,
}

static THREADS: Latched<Threads> = Latched::new(Threads {
    all: Vec::new(),
    spare: Vec::new(),
});

/// Does something with the threads, among them such as have ended; none is added meanwhile.
pub(crate) fn with_all<R>(does: impl FnOnce(&[&'static Thread]) -> R) -> R {
    THREADS.with(|threads| does(&threads.all))
}

/// A thread that nobody else can name.
pub(crate) fn add(origin: Origin) -> &'static Thread {
    THREADS.with(|threads| {
        let own = threads.spare.pop().unwrap_or_else(|| {
            let own: &'static Thread = Box::leak(Box::default());
            threads.all.push(own);
            threads.spare.reserve(threads.all.len());
            own
        });
        own.begin(origin);
        own
    })
}

/// Its memory may be used again: nobody can name it any more.
pub(crate) fn recycle(thread: &'static Thread) {
    THREADS.with(|threads| threads.spare.push(thread));
}

/// As many threads have memory.
#[cfg(test)]
pub(crate) fn number() -> usize {
    THREADS.with(|threads| threads.all.len())
}
