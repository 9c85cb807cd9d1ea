//! lastzero(N): one thread searches for the last zero of an array that N others fill from the left.

use crate::entry::{Entry, Parameter};
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "lastzero",
    about: "one thread searches an array backwards for a zero; thread j does array[j] = array[j-1] + 1",
    parameters: &[Parameter::new("N", 8, 1..=1000)],
    body: |sizes| lastzero(sizes[0]),
    expect: include_str!("expect.toml"),
};

fn lastzero(n: u32) {
    let array: Vec<AtomicU32> = (0..=n).map(|_| AtomicU32::new(0)).collect();
    thread::scope(|scope| {
        scope.spawn(|| array.iter().rev().position(|place| place.load(SeqCst) == 0));
        for neighbours in array.windows(2) {
            scope.spawn(|| neighbours[1].store(neighbours[0].load(SeqCst) + 1, SeqCst));
        }
    });
}
