//! mutex(T, N): T threads increment a counter under one lock.

use crate::entry::{Entry, Parameter};
use mazurka::sync::Mutex;
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "mutex",
    about: "T threads, N times lock, counter = counter + 1, unlock",
    parameters: &[
        Parameter::new("T", 2, 1..=100),
        Parameter::new("N", 2, 0..=10_000),
    ],
    body: |sizes| mutex(sizes[0], sizes[1]),
    expect: include_str!("expect.toml"),
};

fn mutex(threads: u32, n: u32) {
    let lock = Mutex::new(());
    let counter = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                for _ in 0..n {
                    let _guard = lock.lock().unwrap();
                    counter.store(counter.load(SeqCst) + 1, SeqCst);
                }
            });
        }
    });
    assert_eq!(counter.load(SeqCst), threads * n);
}
