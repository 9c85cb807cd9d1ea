//! lastwrite(N): only the last of N writes is read.

use crate::entry::{Entry, Parameter};
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "lastwrite",
    about: "N threads write one variable, main reads it after joining them",
    parameters: &[Parameter::new("N", 5, 1..=1000)],
    body: |sizes| lastwrite(sizes[0]),
    expect: include_str!("expect.toml"),
};

fn lastwrite(n: u32) {
    let x = AtomicU32::new(0);
    thread::scope(|scope| {
        for thread in 1..=n {
            let x = &x;
            scope.spawn(move || x.store(thread, SeqCst));
        }
    });
    assert_ne!(x.load(SeqCst), 0);
}
