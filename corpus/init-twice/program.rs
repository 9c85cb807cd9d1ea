//! init-twice: two threads check whether something is initialised
//! and, if not, initialise it. Both may find it uninitialised.

use crate::entry::Entry;
use mazurka::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "init-twice",
    about: "two threads look at a flag and then initialise",
    parameters: &[],
    body: |_| init_twice(),
    expect: include_str!("expect.toml"),
};

fn init_twice() {
    let is_done = AtomicBool::new(false);
    let count = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                if !is_done.load(SeqCst) {
                    count.fetch_add(1, SeqCst);
                    is_done.store(true, SeqCst);
                }
            });
        }
    });
    assert_eq!(count.load(SeqCst), 1, "initialised twice");
}
