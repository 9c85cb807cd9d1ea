//! torn-publish: a relaxed flag publishes two words, but does not order the accesses to them.
//! Repair: the flag is stored with release and loaded with acquire.

use crate::Plain;
use crate::entry::Entry;
use mazurka::sync::atomic::{
    AtomicBool,
    Ordering::{self, Acquire, Relaxed, Release},
};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "torn-publish",
    about: "a relaxed flag publishes two plain words",
    parameters: &[],
    body: |_| torn_publish(Relaxed, Relaxed),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "torn-publish-fixed",
    about: "a flag with release and acquire publishes two plain words",
    parameters: &[],
    body: |_| torn_publish(Release, Acquire),
    expect: include_str!("fixed.toml"),
};

fn torn_publish(store: Ordering, load: Ordering) {
    let is_published = AtomicBool::new(false);
    let pair = (Plain::new(0), Plain::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            pair.0.set(1);
            pair.1.set(1);
            is_published.store(true, store);
        });
        if is_published.load(load) {
            assert_eq!(pair.0.get(), pair.1.get());
        }
    });
}
