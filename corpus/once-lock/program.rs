//! once-lock: two threads find an empty cell, both set it, and one of them did not expect to be second.

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
    thread::scope(|scope| {
        for value in 1..=2 {
            let cell = &cell;
            scope.spawn(move || {
                if cell.get().is_none() {
                    cell.set(value).expect("nobody else has set it");
                }
            });
        }
    });
    assert!(cell.get().is_some());
}
