//! put-take(N): one thread puts, another takes, and each task uses the buffer exclusively
//! (the bounded buffer of Albert et al., CAV 2017: an actor there, a mutex here).

use crate::entry::{Entry, Parameter};
use mazurka::sync::Mutex;
use mazurka::thread;
use std::collections::VecDeque;

pub(crate) const ENTRY: Entry = Entry {
    name: "put-take",
    about: "N put tasks of one thread and N take tasks of another at one buffer; an empty buffer gives 0",
    parameters: &[Parameter::new("N", 3, 1..=1000)],
    body: |sizes| put_take(sizes[0]),
    expect: include_str!("expect.toml"),
};

fn put_take(n: u32) {
    let buffer = Mutex::new(VecDeque::new());
    let taken = thread::scope(|scope| {
        scope.spawn(|| {
            for element in 1..=n {
                buffer.lock().unwrap().push_back(element);
            }
        });
        let consumer = scope.spawn(|| {
            let take = |_| buffer.lock().unwrap().pop_front().unwrap_or(0);
            (0..n)
                .map(take)
                .filter(|element| *element != 0)
                .collect::<Vec<u32>>()
        });
        consumer.join().unwrap()
    });
    assert!(taken.iter().copied().eq(1..=taken.len() as u32));
}
