//! load-load-store: the second load sees a store that comes after another load. loom
//! 0.7.2 considers only the last access of an object, runs one execution and misses this.

use crate::entry::Entry;
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "load-load-store",
    about: "x.load() in one thread, x.load(); x.store(1) in another: the load may return 1",
    parameters: &[],
    body: |_| load_load_store(),
    expect: include_str!("expect.toml"),
};

fn load_load_store() {
    let x = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            x.load(SeqCst);
            x.store(1, SeqCst);
        });
        assert_eq!(x.load(SeqCst), 0, "the store came first");
    });
}
