//! torn-publish: a relaxed flag publishes two words. It does not order their accesses.

use crate::Plain;
use crate::entry::Entry;
use mazurka::sync::atomic::{AtomicBool, Ordering::Relaxed};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "torn-publish",
    about: "two plain words are published by a relaxed flag",
    parameters: &[],
    body: |_| torn_publish(),
    expect: include_str!("expect.toml"),
};

fn torn_publish() {
    let is_published = AtomicBool::new(false);
    let pair = (Plain::new(0), Plain::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            pair.0.set(1);
            pair.1.set(1);
            is_published.store(true, Relaxed);
        });
        if is_published.load(Relaxed) {
            assert_eq!(pair.0.get(), pair.1.get());
        }
    });
}
