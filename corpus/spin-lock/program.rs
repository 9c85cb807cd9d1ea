//! spin-lock: two threads count under a spin lock. The bug: checking the lock and taking it are two
//! operations, so both threads may find it free. The repair: a compare-exchange.

use crate::entry::Entry;
use mazurka::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use mazurka::{hint, thread};

pub(crate) const ENTRY: Entry = Entry {
    name: "spin-lock",
    about: "a spin lock that checks and takes the lock in two operations",
    parameters: &[],
    body: |_| spin_lock(false),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "spin-lock-fixed",
    about: "a spin lock that checks and takes the lock in one compare-exchange",
    parameters: &[],
    body: |_| spin_lock(true),
    expect: include_str!("fixed.toml"),
};

struct SpinLock(AtomicBool);

impl SpinLock {
    fn lock(&self, is_fixed: bool) {
        if is_fixed {
            while self
                .0
                .compare_exchange(false, true, SeqCst, SeqCst)
                .is_err()
            {
                hint::spin_loop();
            }
        } else {
            while self.0.load(SeqCst) {
                hint::spin_loop();
            }
            self.0.store(true, SeqCst);
        }
    }

    fn unlock(&self) {
        self.0.store(false, SeqCst);
    }
}

fn spin_lock(is_fixed: bool) {
    let lock = SpinLock(AtomicBool::new(false));
    let count = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                lock.lock(is_fixed);
                count.store(count.load(SeqCst) + 1, SeqCst);
                lock.unlock();
            });
        }
    });
    assert_eq!(count.load(SeqCst), 2, "both threads were inside");
}
