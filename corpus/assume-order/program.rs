//! assume-order(N): N threads write their numbers in turn. A thread that
//! reads before its predecessor has written halts at an assumption.

use crate::entry::{Entry, Parameter};
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::{assume, thread};

pub(crate) const ENTRY: Entry = Entry {
    name: "assume-order",
    about: "thread i of 1…N goes on only if x is i-1, then writes i",
    parameters: &[Parameter::new("N", 3, 1..=1000)],
    body: |sizes| assume_order(sizes[0]),
    expect: include_str!("expect.toml"),
};

fn assume_order(n: u32) {
    let x = AtomicU32::new(0);
    thread::scope(|scope| {
        for i in 1..=n {
            let x = &x;
            scope.spawn(move || {
                assume(x.load(SeqCst) == i - 1);
                x.store(i, SeqCst);
            });
        }
    });
    assert_eq!(x.load(SeqCst), n);
}
