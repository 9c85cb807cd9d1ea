//! parts-by-arrival(N): N tasks each compute a part of a list. The bug: they append the parts to
//! the list in their order of arrival. The repair: each part is stored at its own place.

use crate::entry::{Entry, Parameter};
use actors::object::{Object, State};

pub(crate) const ENTRY: Entry = Entry {
    name: "parts-by-arrival",
    about: "N tasks append their parts of a list in order of arrival",
    parameters: &[Parameter::new("N", 3, 2..=1000)],
    body: |sizes| parts_by_arrival(sizes[0]),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "parts-by-arrival-fixed",
    about: "N tasks store their parts of a list at their own places",
    parameters: &[Parameter::new("N", 3, 2..=1000)],
    body: |sizes| parts_by_arrival_fixed(sizes[0]),
    expect: include_str!("fixed.toml"),
};

fn parts_by_arrival(n: u32) {
    let parts = collect(n, Vec::new(), Vec::push);
    assert!(parts.into_iter().eq(0..n), "the parts are mixed up");
}

fn parts_by_arrival_fixed(n: u32) {
    let places = vec![None; n as usize];
    let parts = collect(n, places, |parts, part| parts[part as usize] = Some(part));
    assert!(parts.into_iter().eq((0..n).map(Some)));
}

/// Starts N tasks that each store their part in the list, and returns the list.
fn collect<L: State>(n: u32, list: L, store: fn(&mut L, u32)) -> L {
    let list = Object::new(list);
    let bring = |part| list.call("bring", move |list| list.write(|parts| store(parts, part)));
    let tasks: Vec<_> = (0..n).map(bring).collect();
    for task in tasks {
        task.get();
    }
    list.read(L::clone)
}
