//! parts-by-arrival-fixed(N): N tasks each compute a part of a list and store it at its place.

use crate::entry::{Entry, Parameter};
use actors::object::Object;

pub(crate) const ENTRY: Entry = Entry {
    name: "parts-by-arrival-fixed",
    about: "N tasks put their parts of a list in their places",
    parameters: &[Parameter::new("N", 3, 2..=1000)],
    body: |sizes| parts_by_arrival_fixed(sizes[0]),
    expect: include_str!("expect.toml"),
};

fn parts_by_arrival_fixed(n: u32) {
    let list = Object::new(vec![None; n as usize]);
    let bring = |part: u32| {
        list.call("bring", move |list| {
            list.write(|parts| parts[part as usize] = Some(part));
        })
    };
    let tasks: Vec<_> = (0..n).map(bring).collect();
    for task in tasks {
        task.get();
    }
    assert!(list.read(Vec::clone).into_iter().eq((0..n).map(Some)));
}
