//! init-twice: two threads check whether something is initialized and, if not, initialize it. Both
//! may find it uninitialized. The repair: a `Once` lets one thread initialize it.

use crate::entry::Entry;
use mazurka::sync::Once;
use mazurka::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "init-twice",
    about: "two threads check a flag and then initialize",
    parameters: &[],
    body: |_| init_by_flag(),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "init-twice-fixed",
    about: "two threads initialize through Once::call_once",
    parameters: &[],
    body: |_| init_by_once(),
    expect: include_str!("fixed.toml"),
};

fn init_by_flag() {
    let is_done = AtomicBool::new(false);
    init_in_two_threads(|count| {
        if !is_done.load(SeqCst) {
            count.fetch_add(1, SeqCst);
            is_done.store(true, SeqCst);
        }
    });
}

fn init_by_once() {
    let once = Once::new();
    init_in_two_threads(|count| {
        once.call_once(|| {
            count.fetch_add(1, SeqCst);
        });
    });
}

/// Calls `init` in two threads. Checks that it counts once.
fn init_in_two_threads(init: impl Fn(&AtomicU32) + Sync) {
    let count = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| init(&count));
        }
    });
    assert_eq!(count.load(SeqCst), 1, "initialized twice");
}
