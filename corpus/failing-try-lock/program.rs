//! failing-try-lock: a try_lock finds the lock held. loom 0.7.2 misses this.

use crate::entry::Entry;
use mazurka::sync::Mutex;
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "failing-try-lock",
    about: "try_lock may fail while another thread has the lock",
    parameters: &[],
    body: |_| failing_try_lock(),
    expect: include_str!("expect.toml"),
};

fn failing_try_lock() {
    let mutex = Mutex::new(0);
    thread::scope(|scope| {
        scope.spawn(|| *mutex.lock().unwrap() += 1);
        assert!(mutex.try_lock().is_ok(), "the lock is in use");
    });
}
