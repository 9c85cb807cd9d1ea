//! lost-update: two threads count with a load and a store. Both may load before either stores.

use crate::entry::Entry;
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "lost-update",
    about: "two threads count with a load and a store",
    parameters: &[],
    body: |_| lost_update(),
    expect: include_str!("expect.toml"),
};

fn lost_update() {
    let count = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| count.store(count.load(SeqCst) + 1, SeqCst));
        }
    });
    assert_eq!(count.load(SeqCst), 2, "an update was lost");
}

pub(crate) const FIXED: Entry = Entry {
    name: "lost-update-fixed",
    about: "two threads count with fetch_add",
    parameters: &[],
    body: |_| lost_update_fixed(),
    expect: include_str!("fixed.toml"),
};

/// The repair: the load and the store are one operation. This is a function of its own, since the
/// documents quote the other one with its line numbers.
fn lost_update_fixed() {
    let count = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| count.fetch_add(1, SeqCst));
        }
    });
    assert_eq!(count.load(SeqCst), 2, "an update was lost");
}
