//! failing-try-read: a try_read finds the lock held by a writer. loom 0.7.2 misses this.

use crate::entry::Entry;
use mazurka::sync::RwLock;
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "failing-try-read",
    about: "try_read may fail while another thread writes",
    parameters: &[],
    body: |_| failing_try_read(),
    expect: include_str!("expect.toml"),
};

fn failing_try_read() {
    let lock = RwLock::new(0);
    thread::scope(|scope| {
        scope.spawn(|| *lock.write().unwrap() += 1);
        assert!(lock.try_read().is_ok(), "a writer has the lock");
    });
}
