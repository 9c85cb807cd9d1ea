//! upgrade-deadlock: two readers want to write and keep their read locks. Each waits for the other
//! to stop reading. Repair: a reader stops reading before it waits for the write lock, and then
//! checks again.

use crate::entry::Entry;
use mazurka::sync::RwLock;
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "upgrade-deadlock",
    about: "two readers wait for the write lock and keep their read locks",
    parameters: &[],
    body: |_| upgrade_deadlock(false),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "upgrade-deadlock-fixed",
    about: "two readers give up their read locks before they wait for the write lock",
    parameters: &[],
    body: |_| upgrade_deadlock(true),
    expect: include_str!("fixed.toml"),
};

fn upgrade_deadlock(is_fixed: bool) {
    let cache = RwLock::new(None);
    thread::scope(|scope| {
        for value in 1..=2 {
            let cache = &cache;
            scope.spawn(move || {
                let present = cache.read().unwrap();
                if present.is_none() {
                    if is_fixed {
                        drop(present);
                    }
                    cache.write().unwrap().get_or_insert(value);
                }
            });
        }
    });
    assert!(cache.read().unwrap().is_some());
}
