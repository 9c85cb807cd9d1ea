//! expmem(N): here the wakeup trees of Optimal-DPOR grow exponentially, unlike the memory of the
//! parsimonious algorithm (after Abdulla et al., CAV 2024).

use crate::entry::{Entry, Parameter};
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "expmem",
    about: "one thread writes x, N threads write y1…yN, one reads y1…yN, then x",
    parameters: &[Parameter::new("N", 8, 1..=1000)],
    body: |sizes| expmem(sizes[0]),
    expect: include_str!("expect.toml"),
};

fn expmem(n: u32) {
    let x = AtomicU32::new(0);
    let y: Vec<AtomicU32> = (0..n).map(|_| AtomicU32::new(0)).collect();
    thread::scope(|scope| {
        scope.spawn(|| x.store(1, SeqCst));
        for place in &y {
            scope.spawn(|| place.store(1, SeqCst));
        }
        scope.spawn(|| {
            for place in &y {
                place.load(SeqCst);
            }
            x.load(SeqCst);
        });
    });
}
