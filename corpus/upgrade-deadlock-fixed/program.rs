//! upgrade-deadlock-fixed: a reader that wants to write stops reading first and checks as a writer.

use crate::entry::Entry;
use mazurka::sync::RwLock;
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "upgrade-deadlock-fixed",
    about: "two readers become writers after they stopped reading",
    parameters: &[],
    body: |_| upgrade_deadlock_fixed(),
    expect: include_str!("expect.toml"),
};

fn upgrade_deadlock_fixed() {
    let cache = RwLock::new(None);
    thread::scope(|scope| {
        for value in 1..=2 {
            let cache = &cache;
            scope.spawn(move || {
                let is_missing = cache.read().unwrap().is_none();
                if is_missing {
                    cache.write().unwrap().get_or_insert(value);
                }
            });
        }
    });
    assert!(cache.read().unwrap().is_some());
}
