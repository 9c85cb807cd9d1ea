//! semaphore-deadlock-fixed: each thread takes its permits one by one, but under a lock.

use crate::entry::Entry;
use mazurka::sync::{Mutex, Semaphore};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "semaphore-deadlock-fixed",
    about: "two threads take two permits one by one under a lock",
    parameters: &[],
    body: |_| semaphore_deadlock_fixed(),
    expect: include_str!("expect.toml"),
};

fn semaphore_deadlock_fixed() {
    let permits = Semaphore::new(2);
    let taking = Mutex::new(());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let guard = taking.lock().unwrap();
                permits.acquire();
                permits.acquire();
                drop(guard);
                permits.release();
                permits.release();
            });
        }
    });
}
