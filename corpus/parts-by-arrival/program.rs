//! parts-by-arrival(N): N tasks each compute a part of a list and append
//! it to the object that collects the parts, in the order of arrival.

use crate::entry::{Entry, Parameter};
use actors::object::Object;

pub(crate) const ENTRY: Entry = Entry {
    name: "parts-by-arrival",
    about: "N tasks append their parts of a list in the order in which they come",
    parameters: &[Parameter::new("N", 3, 2..=1000)],
    body: |sizes| parts_by_arrival(sizes[0]),
    expect: include_str!("expect.toml"),
};

fn parts_by_arrival(n: u32) {
    let list = Object::new(Vec::new());
    let bring = |part| list.call("bring", move |list| list.write(|parts| parts.push(part)));
    let tasks: Vec<_> = (0..n).map(bring).collect();
    for task in tasks {
        task.get();
    }
    assert!(
        list.read(Vec::clone).into_iter().eq(0..n),
        "the parts are mixed up"
    );
}
