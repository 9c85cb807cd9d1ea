//! stale-check(N): N consumers take elements from a buffer. The bug: a consumer checks that there
//! is an element and takes it in a later segment; in between, another consumer takes it. The
//! repair: a consumer awaits an element and takes it in the same segment. Here a producer adds N
//! elements.

use crate::entry::{Entry, Parameter};
use actors::object::Object;

pub(crate) const ENTRY: Entry = Entry {
    name: "stale-check",
    about: "N consumers check that a buffer has an element, and take it in a later segment",
    parameters: &[Parameter::new("N", 2, 2..=100)],
    body: |sizes| stale_check(sizes[0]),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "stale-check-fixed",
    about: "N consumers await an element in a buffer and take it in the same segment",
    parameters: &[Parameter::new("N", 2, 2..=100)],
    body: |sizes| stale_check_fixed(sizes[0]),
    expect: include_str!("fixed.toml"),
};

fn stale_check(n: u32) {
    let buffer = Object::new(vec![1]);
    let consume = |_| {
        buffer.call("consume", |buffer| {
            let has_element = buffer.read(|elements| !elements.is_empty());
            has_element.then(|| buffer.write(|elements| elements.pop().expect("there was one")))
        })
    };
    let consumers: Vec<_> = (0..n).map(consume).collect();
    let taken = consumers.iter().filter_map(|consumer| consumer.get());
    assert_eq!(taken.count(), 1);
}

fn stale_check_fixed(n: u32) {
    let buffer = Object::new(Vec::new());
    let consume = |_| {
        buffer.call("consume", |buffer| {
            let has_element = |elements: &Vec<u32>| !elements.is_empty();
            buffer.write_when(has_element, |elements| {
                elements.pop().expect("there is one")
            })
        })
    };
    let consumers: Vec<_> = (0..n).map(consume).collect();
    for element in 1..=n {
        buffer.write(|elements| elements.push(element));
    }
    let sum: u32 = consumers.iter().map(|consumer| consumer.get()).sum();
    assert_eq!(sum, n * (n + 1) / 2);
}
