//! semaphore-permits: a semaphore is used for mutual exclusion. The bug: it has two permits. The
//! repair: it has one.

use crate::entry::Entry;
use mazurka::sync::Semaphore;
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "semaphore-permits",
    about: "two threads count under a semaphore with two permits",
    parameters: &[],
    body: |_| semaphore_permits(2),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "semaphore-permits-fixed",
    about: "two threads count under a semaphore with one permit",
    parameters: &[],
    body: |_| semaphore_permits(1),
    expect: include_str!("fixed.toml"),
};

fn semaphore_permits(permits: usize) {
    let permits = Semaphore::new(permits);
    let count = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                permits.acquire();
                count.store(count.load(SeqCst) + 1, SeqCst);
                permits.release();
            });
        }
    });
    assert_eq!(count.load(SeqCst), 2, "both threads were inside");
}
