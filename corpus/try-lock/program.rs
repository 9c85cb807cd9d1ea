//! try-lock: a thread that does not get the lock at once drops its update. Repair: it waits for
//! the lock.

use crate::entry::Entry;
use mazurka::sync::Mutex;
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "try-lock",
    about: "a thread drops its update if it does not get the lock at once",
    parameters: &[],
    body: |_| try_lock(false),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "try-lock-fixed",
    about: "a thread waits for the lock if it does not get it at once",
    parameters: &[],
    body: |_| try_lock(true),
    expect: include_str!("fixed.toml"),
};

fn try_lock(is_fixed: bool) {
    let count = Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                if let Ok(mut count) = count.try_lock() {
                    *count += 1;
                } else if is_fixed {
                    *count.lock().unwrap() += 1;
                }
            });
        }
    });
    assert_eq!(*count.lock().unwrap(), 2, "a thread did not get the lock");
}
