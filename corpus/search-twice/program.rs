//! search-twice: two ways lead to one position. A task that comes there looks whether it was met, and enters it in the
//! table with another call, so that both search it.

use crate::entry::Entry;
use actors::object::Object;

pub(crate) const ENTRY: Entry = Entry {
    name: "search-twice",
    about: "two tasks look a position up in a shared table and enter it with another call",
    parameters: &[],
    body: |_| search_twice(),
    expect: include_str!("expect.toml"),
};

fn search_twice() {
    let (was_met, searched) = (Object::new(false), Object::new(0));
    let tasks = [(), ()].map(|()| {
        let searched = searched.clone();
        was_met.call("search", move |was_met| {
            if !was_met.read(|was_met| *was_met) {
                was_met.write(|was_met| *was_met = true);
                searched.write(|times| *times += 1);
            }
        })
    });
    for task in tasks {
        task.get();
    }
    assert_eq!(
        searched.read(|times| *times),
        1,
        "the position was searched again"
    );
}
