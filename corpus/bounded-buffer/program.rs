//! bounded-buffer(N): one caller puts 1…N into a buffer, another takes N times, all as tasks of
//! the buffer (Albert et al., CAV 2017). A take from an empty buffer returns 0. A put never waits.

use crate::entry::{Entry, Parameter};
use actors::object::{Calls, Next, Object, Task};
use std::collections::VecDeque;

pub(crate) const ENTRY: Entry = Entry {
    name: "bounded-buffer",
    about: "N put tasks of one caller and N take tasks of another at one object; an empty buffer gives 0",
    parameters: &[Parameter::new("N", 3, 1..=1000)],
    body: |sizes| bounded_buffer(sizes[0]),
    expect: include_str!("expect.toml"),
};

#[derive(Clone, PartialEq, Eq, Hash)]
enum Caller {
    Puts { next: u32, last: u32 },
    Takes { left: u32, taken: Vec<u32> },
}

impl Task for Caller {
    type Touches = Object<VecDeque<u32>>;
    type Output = Vec<u32>;

    fn method(&self) -> &'static str {
        match self {
            Caller::Puts { .. } => "put",
            Caller::Takes { .. } => "take",
        }
    }

    fn segment(&mut self, buffer: &mut VecDeque<u32>, _: &mut Calls) -> Next<Caller> {
        match self {
            Caller::Puts { next, last } => {
                buffer.push_back(*next);
                if next == last {
                    return Next::Done(Vec::new());
                }
                *next += 1;
            }
            Caller::Takes { left, taken } => {
                taken.push(buffer.pop_front().unwrap_or(0));
                *left -= 1;
                if *left == 0 {
                    return Next::Done(taken.clone());
                }
            }
        }
        Next::Suspend
    }
}

fn bounded_buffer(n: u32) {
    let buffer = Object::new(VecDeque::new());
    let producer = buffer.start(Caller::Puts { next: 1, last: n });
    let consumer = buffer.start(Caller::Takes {
        left: n,
        taken: Vec::new(),
    });
    producer.get();
    let taken = consumer.get().into_iter().filter(|element| *element != 0);
    assert!(taken.eq(1..=n - buffer.read(VecDeque::len) as u32));
}
