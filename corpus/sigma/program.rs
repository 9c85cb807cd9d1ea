//! sigma(N): threads use an index that main keeps incrementing.

use crate::entry::{Entry, Parameter};
use mazurka::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "sigma",
    about: "main N times: idx = idx + 1, start a thread that does array[idx] = 1",
    parameters: &[Parameter::new("N", 4, 1..=1000)],
    body: |sizes| sigma(sizes[0]),
    expect: include_str!("expect.toml"),
};

fn sigma(n: u32) {
    let idx = AtomicUsize::new(0);
    let array: Vec<AtomicUsize> = (0..=n).map(|_| AtomicUsize::new(0)).collect();
    thread::scope(|scope| {
        for _ in 0..n {
            idx.store(idx.load(SeqCst) + 1, SeqCst);
            scope.spawn(|| array[idx.load(SeqCst)].store(1, SeqCst));
        }
    });
}
