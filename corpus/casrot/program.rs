//! casrot(N): N compare-exchanges. Each succeeds only after its predecessor's.

use crate::entry::{Entry, Parameter};
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "casrot",
    about: "thread i of 1…N: compare-exchange of x from i-1 to i",
    parameters: &[Parameter::new("N", 6, 1..=1000)],
    body: |sizes| casrot(sizes[0]),
    expect: include_str!("expect.toml"),
};

fn casrot(n: u32) {
    let x = AtomicU32::new(0);
    thread::scope(|scope| {
        for i in 1..=n {
            let x = &x;
            scope.spawn(move || x.compare_exchange(i - 1, i, SeqCst, SeqCst));
        }
    });
}
