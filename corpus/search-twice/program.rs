//! search-twice(N): N paths lead to a position. The bug: a task looks the position up in the table
//! and enters it in separate segments, so several tasks search it. The repair: one segment.

use crate::entry::{Entry, Parameter};
use actors::object::Object;
use std::mem;

pub(crate) const ENTRY: Entry = Entry {
    name: "search-twice",
    about: "N tasks look up a position in a shared table and enter it in another segment",
    parameters: &[Parameter::new("N", 2, 2..=100)],
    body: |sizes| search_twice(sizes[0], false),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "search-twice-fixed",
    about: "N tasks look up a position in a shared table and enter it in the same segment",
    parameters: &[Parameter::new("N", 2, 2..=100)],
    body: |sizes| search_twice(sizes[0], true),
    expect: include_str!("fixed.toml"),
};

fn search_twice(n: u32, is_fixed: bool) {
    let (was_met, searched) = (Object::new(false), Object::new(0));
    let search = |_| {
        let searched = searched.clone();
        was_met.call("search", move |was_met| {
            let is_new = if is_fixed {
                was_met.write(|was_met| !mem::replace(was_met, true))
            } else {
                let is_new = was_met.read(|was_met| !*was_met);
                if is_new {
                    was_met.write(|was_met| *was_met = true);
                }
                is_new
            };
            if is_new {
                searched.write(|times| *times += 1);
            }
        })
    };
    let tasks: Vec<_> = (0..n).map(search).collect();
    for task in tasks {
        task.get();
    }
    assert_eq!(
        searched.read(|times| *times),
        1,
        "the position was searched again"
    );
}
