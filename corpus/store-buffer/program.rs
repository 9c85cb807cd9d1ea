//! store-buffer: the litmus test of store buffers. If two threads store before they load, one
//! sees the other's store. loom 0.7.2 treats SeqCst as acquire and release and cannot show that.

use crate::entry::Entry;
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "store-buffer",
    about: "each of two threads stores to its own variable and loads the other's; at least one sees the other's store",
    parameters: &[],
    body: |_| store_buffer(),
    expect: include_str!("expect.toml"),
};

fn store_buffer() {
    let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
    let seen = thread::scope(|scope| {
        let other = scope.spawn(|| {
            x.store(1, SeqCst);
            y.load(SeqCst)
        });
        y.store(1, SeqCst);
        let mine = x.load(SeqCst);
        mine + other.join().unwrap()
    });
    assert_ne!(seen, 0, "neither thread saw the other");
}
