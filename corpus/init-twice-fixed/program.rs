//! init-twice-fixed: a `Once` lets one thread initialise while the other waits.

use crate::entry::Entry;
use mazurka::sync::Once;
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "init-twice-fixed",
    about: "two threads initialise by Once::call_once",
    parameters: &[],
    body: |_| init_twice_fixed(),
    expect: include_str!("expect.toml"),
};

fn init_twice_fixed() {
    let once = Once::new();
    let count = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                once.call_once(|| {
                    count.fetch_add(1, SeqCst);
                });
            });
        }
    });
    assert_eq!(count.load(SeqCst), 1, "initialised twice");
}
