//! spin-lock: two threads may both find the lock free before either takes it.

use crate::entry::Entry;
use mazurka::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use mazurka::{hint, thread};

pub(crate) const ENTRY: Entry = Entry {
    name: "spin-lock",
    about: "a spin lock that looks and takes in two steps",
    parameters: &[],
    body: |_| spin_lock(),
    expect: include_str!("expect.toml"),
};

struct SpinLock(AtomicBool);

impl SpinLock {
    fn lock(&self) {
        while self.0.load(SeqCst) {
            hint::spin_loop();
        }
        self.0.store(true, SeqCst);
    }

    fn unlock(&self) {
        self.0.store(false, SeqCst);
    }
}

fn spin_lock() {
    let lock = SpinLock(AtomicBool::new(false));
    let count = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                lock.lock();
                count.store(count.load(SeqCst) + 1, SeqCst);
                lock.unlock();
            });
        }
    });
    assert_eq!(count.load(SeqCst), 2, "both threads were inside");
}
