//! lost-update: two threads count with a load and a store. Both may load before either stores.

use crate::entry::Entry;
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "lost-update",
    about: "two threads count by a load and a store",
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
