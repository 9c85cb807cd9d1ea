//! search-twice-fixed(N): N paths lead to a position. One segment looks it up and enters it.

use crate::entry::{Entry, Parameter};
use actors::object::Object;
use std::mem;

pub(crate) const ENTRY: Entry = Entry {
    name: "search-twice-fixed",
    about: "N tasks look a position up in a shared table and enter it in one segment",
    parameters: &[Parameter::new("N", 2, 2..=100)],
    body: |sizes| search_twice_fixed(sizes[0]),
    expect: include_str!("expect.toml"),
};

fn search_twice_fixed(n: u32) {
    let (was_met, searched) = (Object::new(false), Object::new(0));
    let search = |_| {
        let searched = searched.clone();
        was_met.call("search", move |was_met| {
            if !was_met.write(|was_met| mem::replace(was_met, true)) {
                searched.write(|times| *times += 1);
            }
        })
    };
    let tasks: Vec<_> = (0..n).map(search).collect();
    for task in tasks {
        task.get();
    }
    assert_eq!(searched.read(|times| *times), 1);
}
