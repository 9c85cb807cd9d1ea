//! once-lock: two threads find an empty cell and set it. Each assumes that it is the only one. The
//! repair: checking and setting is one operation.

use crate::entry::Entry;
use mazurka::sync::OnceLock;
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "once-lock",
    about: "two threads check whether a cell is empty and then set it",
    parameters: &[],
    body: |_| once_lock(false),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "once-lock-fixed",
    about: "two threads set a cell with OnceLock::get_or_init",
    parameters: &[],
    body: |_| once_lock(true),
    expect: include_str!("fixed.toml"),
};

fn once_lock(is_fixed: bool) {
    let cell = OnceLock::new();
    // Returns the value of the cell, unless another thread sets it after the check.
    let fill = |value| {
        if is_fixed {
            return Some(*cell.get_or_init(|| value));
        }
        match cell.get() {
            Some(found) => Some(*found),
            None => cell.set(value).is_ok().then_some(value),
        }
    };
    thread::scope(|scope| {
        let other = scope.spawn(|| fill(1));
        let own = fill(2).expect("the other thread was first");
        assert_eq!(other.join().unwrap().expect("main was first"), own);
    });
}
