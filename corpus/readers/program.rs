//! readers(N): one writer, and N readers that race with it only.

use crate::entry::{Entry, Parameter};
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "readers",
    about: "one thread writes x; N threads each read a place of their own, then x",
    parameters: &[Parameter::new("N", 8, 1..=1000)],
    body: |sizes| readers(sizes[0]),
    expect: include_str!("expect.toml"),
};

fn readers(n: u32) {
    let x = AtomicU32::new(0);
    let own: Vec<AtomicU32> = (0..n).map(|_| AtomicU32::new(0)).collect();
    thread::scope(|scope| {
        scope.spawn(|| x.store(1, SeqCst));
        for place in &own {
            scope.spawn(|| {
                place.load(SeqCst);
                x.load(SeqCst);
            });
        }
    });
}
