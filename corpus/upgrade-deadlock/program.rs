//! upgrade-deadlock: two readers want to write and keep their
//! read locks. Each waits for the other one to stop reading.

use crate::entry::Entry;
use mazurka::sync::RwLock;
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "upgrade-deadlock",
    about: "two readers become writers without giving up reading",
    parameters: &[],
    body: |_| upgrade_deadlock(),
    expect: include_str!("expect.toml"),
};

fn upgrade_deadlock() {
    let cache = RwLock::new(None);
    thread::scope(|scope| {
        for value in 1..=2 {
            let cache = &cache;
            scope.spawn(move || {
                let present = cache.read().unwrap();
                if present.is_none() {
                    *cache.write().unwrap() = Some(value);
                }
            });
        }
    });
    assert!(cache.read().unwrap().is_some());
}
