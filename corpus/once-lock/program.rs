//! once-lock: two threads find an empty cell and set it. Each assumes that it is the only one.

use crate::entry::Entry;
use mazurka::sync::OnceLock;
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "once-lock",
    about: "two threads look whether a cell is empty and then set it",
    parameters: &[],
    body: |_| once_lock(),
    expect: include_str!("expect.toml"),
};

fn once_lock() {
    let cell = OnceLock::new();
    let fill = |value| cell.get().is_some() || cell.set(value).is_ok();
    thread::scope(|scope| {
        let other = scope.spawn(|| fill(1));
        assert!(fill(2), "the other thread was first");
        assert!(other.join().unwrap(), "main was first");
    });
}
