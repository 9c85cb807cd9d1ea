//! try-lock-fixed: a thread that does not get the lock at once waits for it.

use crate::entry::Entry;
use mazurka::sync::Mutex;
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "try-lock-fixed",
    about: "two threads count under a lock and wait where they do not get it at once",
    parameters: &[],
    body: |_| try_lock_fixed(),
    expect: include_str!("expect.toml"),
};

fn try_lock_fixed() {
    let count = Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| match count.try_lock() {
                Ok(mut count) => *count += 1,
                Err(_) => *count.lock().unwrap() += 1,
            });
        }
    });
    assert_eq!(*count.lock().unwrap(), 2, "a thread did not get the lock");
}
