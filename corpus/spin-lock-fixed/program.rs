//! spin-lock-fixed: checking the lock and taking it is one compare-exchange.

use crate::entry::Entry;
use mazurka::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use mazurka::{hint, thread};

pub(crate) const ENTRY: Entry = Entry {
    name: "spin-lock-fixed",
    about: "a spin lock that looks and takes by compare-exchange",
    parameters: &[],
    body: |_| spin_lock_fixed(),
    expect: include_str!("expect.toml"),
};

struct SpinLock(AtomicBool);

impl SpinLock {
    fn lock(&self) {
        while self
            .0
            .compare_exchange(false, true, SeqCst, SeqCst)
            .is_err()
        {
            hint::spin_loop();
        }
    }

    fn unlock(&self) {
        self.0.store(false, SeqCst);
    }
}

fn spin_lock_fixed() {
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
