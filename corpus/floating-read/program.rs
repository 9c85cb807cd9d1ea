//! floating-read(N): one read that may come anywhere between N writes.

use crate::entry::{Entry, Parameter};
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "floating-read",
    about: "N threads write x, main reads x without waiting for them",
    parameters: &[Parameter::new("N", 5, 1..=1000)],
    body: |sizes| floating_read(sizes[0]),
    expect: include_str!("expect.toml"),
};

fn floating_read(n: u32) {
    let x = AtomicU32::new(0);
    thread::scope(|scope| {
        for thread in 1..=n {
            let x = &x;
            scope.spawn(move || x.store(thread, SeqCst));
        }
        assert!(x.load(SeqCst) <= n);
    });
}
