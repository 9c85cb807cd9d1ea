//! lost-update-fixed: the load and the store are one operation.

use crate::entry::Entry;
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "lost-update-fixed",
    about: "two threads count by fetch_add",
    parameters: &[],
    body: |_| lost_update_fixed(),
    expect: include_str!("expect.toml"),
};

fn lost_update_fixed() {
    let count = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| count.fetch_add(1, SeqCst));
        }
    });
    assert_eq!(count.load(SeqCst), 2, "an update was lost");
}
