//! stale-check-fixed(N): N consumers await an element in a buffer and
//! take it in the same segment, while a producer puts N elements.

use crate::entry::{Entry, Parameter};
use actors::object::Object;

pub(crate) const ENTRY: Entry = Entry {
    name: "stale-check-fixed",
    about: "N consumers await that an object has an element and take it before they release the object",
    parameters: &[Parameter::new("N", 2, 2..=100)],
    body: |sizes| stale_check_fixed(sizes[0]),
    expect: include_str!("expect.toml"),
};

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
