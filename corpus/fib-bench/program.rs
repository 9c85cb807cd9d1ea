//! fib-bench(N): two threads add each other's number to their own (SV-COMP, `fib_bench`).

use crate::entry::{Entry, Parameter};
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "fib-bench",
    about: "one thread N times i += j, another N times j += i; no result exceeds a Fibonacci number",
    // The greatest result, Fibonacci number 2N + 2, fits into 32 bits.
    parameters: &[Parameter::new("N", 3, 1..=22)],
    body: |sizes| fib_bench(sizes[0]),
    expect: include_str!("expect.toml"),
};

fn fib_bench(n: u32) {
    let i = AtomicU32::new(1);
    let j = AtomicU32::new(1);
    let largest = fibonacci(2 * n + 2);
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..n {
                i.store(i.load(SeqCst) + j.load(SeqCst), SeqCst);
            }
        });
        scope.spawn(|| {
            for _ in 0..n {
                j.store(j.load(SeqCst) + i.load(SeqCst), SeqCst);
            }
        });
        assert!(i.load(SeqCst) <= largest);
        assert!(j.load(SeqCst) <= largest);
    });
}

fn fibonacci(n: u32) -> u32 {
    (0..n).fold((0, 1), |(this, next), _| (next, this + next)).0
}
