//! torn-publish-fixed: the flag is stored with release and loaded with acquire.

use crate::Plain;
use crate::entry::Entry;
use mazurka::sync::atomic::{
    AtomicBool,
    Ordering::{Acquire, Release},
};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "torn-publish-fixed",
    about: "two plain words are published by release and acquire",
    parameters: &[],
    body: |_| torn_publish_fixed(),
    expect: include_str!("expect.toml"),
};

fn torn_publish_fixed() {
    let is_published = AtomicBool::new(false);
    let pair = (Plain::new(0), Plain::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            pair.0.set(1);
            pair.1.set(1);
            is_published.store(true, Release);
        });
        if is_published.load(Acquire) {
            assert_eq!(pair.0.get(), pair.1.get());
        }
    });
}
