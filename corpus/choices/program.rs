//! choices(N): two threads choose among N values each, and nothing else happens.

use crate::entry::{Entry, Parameter};
use mazurka::{choose, thread};

pub(crate) const ENTRY: Entry = Entry {
    name: "choices",
    about: "two threads take one of N values each",
    parameters: &[Parameter::new("N", 3, 1..=1000)],
    body: |sizes| choices(sizes[0]),
    expect: include_str!("expect.toml"),
};

fn choices(n: u32) {
    thread::scope(|scope| {
        let other = scope.spawn(move || choose(n));
        assert!(choose(n) + other.join().unwrap() <= 2 * (n - 1));
    });
}
