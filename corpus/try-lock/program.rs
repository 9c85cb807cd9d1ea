//! try-lock: a thread that does not get the lock at once drops its update.

use crate::entry::Entry;
use mazurka::sync::Mutex;
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "try-lock",
    about: "two threads count under a lock if they get it",
    parameters: &[],
    body: |_| try_lock(),
    expect: include_str!("expect.toml"),
};

fn try_lock() {
    let count = Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                if let Ok(mut count) = count.try_lock() {
                    *count += 1;
                }
            });
        }
    });
    assert_eq!(*count.lock().unwrap(), 2, "a thread did not get the lock");
}
