//! casw(N): compare-exchanges that expect one value, between stores of other values.

use crate::entry::{Entry, Parameter};
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "casw",
    about: "thread i of 0…N-1: compare-exchange of x from 0 to 1, then store i+3",
    parameters: &[Parameter::new("N", 3, 1..=1000)],
    body: |sizes| casw(sizes[0]),
    expect: include_str!("expect.toml"),
};

fn casw(n: u32) {
    let x = AtomicU32::new(0);
    thread::scope(|scope| {
        for i in 0..n {
            let x = &x;
            scope.spawn(move || {
                // The result does not matter: the store follows in both cases.
                let _ = x.compare_exchange(0, 1, SeqCst, SeqCst);
                x.store(i + 3, SeqCst);
            });
        }
    });
}
