//! missed-wakeup-fixed: the mutex protects the flag,
//! so it cannot change between the check and the wait.

use crate::entry::Entry;
use mazurka::sync::{Condvar, Mutex};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "missed-wakeup-fixed",
    about: "a thread looks at a flag under the mutex that it waits with",
    parameters: &[],
    body: |_| missed_wakeup_fixed(),
    expect: include_str!("expect.toml"),
};

fn missed_wakeup_fixed() {
    let (is_ready, condvar) = (Mutex::new(false), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut guard = is_ready.lock().unwrap();
            while !*guard {
                guard = condvar.wait(guard).unwrap();
            }
        });
        *is_ready.lock().unwrap() = true;
        condvar.notify_one();
    });
}
