//! semaphore-deadlock: two threads need both permits of a semaphore and take them one by one. The
//! bug: each thread may get one permit and wait for the other. The repair: a lock, so that only one
//! thread at a time takes permits.

use crate::entry::Entry;
use mazurka::sync::{Mutex, Semaphore};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "semaphore-deadlock",
    about: "two threads each take both permits of a semaphore one by one",
    parameters: &[],
    body: |_| semaphore_deadlock(false),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "semaphore-deadlock-fixed",
    about: "two threads each take both permits of a semaphore one by one under a lock",
    parameters: &[],
    body: |_| semaphore_deadlock(true),
    expect: include_str!("fixed.toml"),
};

fn semaphore_deadlock(is_fixed: bool) {
    let permits = Semaphore::new(2);
    let taking = is_fixed.then(|| Mutex::new(()));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let guard = taking.as_ref().map(|taking| taking.lock().unwrap());
                permits.acquire();
                permits.acquire();
                drop(guard);
                permits.release();
                permits.release();
            });
        }
    });
}
