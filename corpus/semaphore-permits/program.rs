//! semaphore-permits: a semaphore for mutual exclusion has two permits.

use crate::entry::Entry;
use mazurka::sync::Semaphore;
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "semaphore-permits",
    about: "two threads count under a semaphore with two permits",
    parameters: &[],
    body: |_| semaphore_permits(),
    expect: include_str!("expect.toml"),
};

fn semaphore_permits() {
    let permits = Semaphore::new(2);
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
