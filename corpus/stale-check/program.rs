//! stale-check(N): N consumers each check that a buffer has an element,
//! and take it in a later segment. In between, another consumer takes it.

use crate::entry::{Entry, Parameter};
use actors::object::Object;

pub(crate) const ENTRY: Entry = Entry {
    name: "stale-check",
    about: "N consumers check that an object has an element, and take it at a later release point",
    parameters: &[Parameter::new("N", 2, 2..=100)],
    body: |sizes| stale_check(sizes[0]),
    expect: include_str!("expect.toml"),
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
