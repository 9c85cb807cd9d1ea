//! linuxrwlocks(N): two threads try to take the write lock of Linux'
//! reader-writer lock, and undo the attempt if the lock is not free.

use crate::entry::{Entry, Parameter};
use mazurka::sync::atomic::{AtomicI32, AtomicU32, Ordering::SeqCst};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "linuxrwlocks",
    about: "two threads, N times each: try to take a write lock by fetch_sub, write, give it back",
    parameters: &[Parameter::new("N", 3, 1..=1000)],
    body: |sizes| linuxrwlocks(sizes[0]),
    expect: include_str!("expect.toml"),
};

/// The value of a free lock.
const BIAS: i32 = 0x0010_0000;

fn linuxrwlocks(n: u32) {
    let lock = AtomicI32::new(BIAS);
    let x = AtomicU32::new(0);
    thread::scope(|scope| {
        for thread in 1..=2 {
            let (lock, x) = (&lock, &x);
            scope.spawn(move || {
                for _ in 0..n {
                    if write_trylock(lock) {
                        x.store(thread, SeqCst);
                        assert_eq!(x.load(SeqCst), thread);
                        write_unlock(lock);
                    }
                }
            });
        }
    });
}

fn write_trylock(lock: &AtomicI32) -> bool {
    let was_free = lock.fetch_sub(BIAS, SeqCst) == BIAS;
    if !was_free {
        lock.fetch_add(BIAS, SeqCst);
    }
    was_free
}

fn write_unlock(lock: &AtomicI32) {
    lock.fetch_add(BIAS, SeqCst);
}
