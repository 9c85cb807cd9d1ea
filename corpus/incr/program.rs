//! incr(T, N): T threads increment a counter without a lock.

use crate::entry::{Entry, Parameter};
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "incr",
    about: "T threads, N times fetch_add",
    parameters: &[
        Parameter::new("T", 2, 1..=100),
        Parameter::new("N", 2, 0..=10_000),
    ],
    body: |sizes| incr(sizes[0], sizes[1]),
    expect: include_str!("expect.toml"),
};

fn incr(threads: u32, n: u32) {
    let counter = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                for _ in 0..n {
                    counter.fetch_add(1, SeqCst);
                }
            });
        }
    });
    assert_eq!(counter.load(SeqCst), threads * n);
}
