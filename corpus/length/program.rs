//! length(T, N): executions of any length, with few races at the end.

use crate::entry::{Entry, Parameter};
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::thread;
use std::sync::Arc;

pub(crate) const ENTRY: Entry = Entry {
    name: "length",
    about: "T threads, N times store and load of a variable of their own, then of a shared one; nobody joins",
    parameters: &[
        Parameter::new("T", 2, 1..=100),
        Parameter::new("N", 100, 0..=100_000),
    ],
    body: |sizes| length(sizes[0], sizes[1]),
    expect: include_str!("expect.toml"),
};

fn length(threads: u32, n: u32) {
    let shared = Arc::new(AtomicU32::new(0));
    for thread in 1..=threads {
        let shared = Arc::clone(&shared);
        let own = AtomicU32::new(0);
        thread::spawn(move || {
            for round in 0..n {
                own.store(round, SeqCst);
                own.load(SeqCst);
            }
            shared.store(thread, SeqCst);
            shared.load(SeqCst);
        });
    }
}
