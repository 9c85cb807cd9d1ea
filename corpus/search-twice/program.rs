//! search-twice(N): N paths lead to a position. A task checks whether it was reached
//! and enters it into the table in separate calls, so that several tasks search it.

use crate::entry::{Entry, Parameter};
use actors::object::Object;

pub(crate) const ENTRY: Entry = Entry {
    name: "search-twice",
    about: "N tasks look a position up in a shared table and enter it with another call",
    parameters: &[Parameter::new("N", 2, 2..=100)],
    body: |sizes| search_twice(sizes[0]),
    expect: include_str!("expect.toml"),
};

fn search_twice(n: u32) {
    let (was_met, searched) = (Object::new(false), Object::new(0));
    let search = |_| {
        let searched = searched.clone();
        was_met.call("search", move |was_met| {
            if !was_met.read(|was_met| *was_met) {
                was_met.write(|was_met| *was_met = true);
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
