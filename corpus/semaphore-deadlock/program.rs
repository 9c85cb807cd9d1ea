//! semaphore-deadlock: two threads take two permits one by one. Each may get one and wait forever.

use crate::entry::Entry;
use mazurka::sync::Semaphore;
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "semaphore-deadlock",
    about: "two threads take two permits one by one",
    parameters: &[],
    body: |_| semaphore_deadlock(),
    expect: include_str!("expect.toml"),
};

fn semaphore_deadlock() {
    let permits = Semaphore::new(2);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                permits.acquire();
                permits.acquire();
                permits.release();
                permits.release();
            });
        }
    });
}
