//! search-twice-fixed: two ways lead to one position. A task that comes there looks it up and enters it in one segment.

use crate::entry::Entry;
use actors::object::Object;
use std::mem;

pub(crate) const ENTRY: Entry = Entry {
    name: "search-twice-fixed",
    about: "two tasks look a position up in a shared table and enter it in one segment",
    parameters: &[],
    body: |_| search_twice_fixed(),
    expect: include_str!("expect.toml"),
};

fn search_twice_fixed() {
    let (was_met, searched) = (Object::new(false), Object::new(0));
    let tasks = [(), ()].map(|()| {
        let searched = searched.clone();
        was_met.call("search", move |was_met| {
            if !was_met.write(|was_met| mem::replace(was_met, true)) {
                searched.write(|times| *times += 1);
            }
        })
    });
    for task in tasks {
        task.get();
    }
    assert_eq!(searched.read(|times| *times), 1);
}
