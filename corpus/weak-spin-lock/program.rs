//! weak-spin-lock: two threads count under a spin lock. The bug: unlock is relaxed, so the next
//! owner of the lock may not see the last count. The repair: unlock releases.

use crate::entry::Entry;
use mazurka::sync::atomic::{
    AtomicBool, AtomicU32,
    Ordering::{self, Acquire, Relaxed, Release},
};
use mazurka::{hint, thread};

pub(crate) const ENTRY: Entry = Entry {
    name: "weak-spin-lock",
    about: "a spin lock whose unlock is relaxed",
    parameters: &[],
    body: |_| weak_spin_lock(Relaxed),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "weak-spin-lock-fixed",
    about: "a spin lock whose unlock releases",
    parameters: &[],
    body: |_| weak_spin_lock(Release),
    expect: include_str!("fixed.toml"),
};

fn weak_spin_lock(unlock: Ordering) {
    let is_locked = AtomicBool::new(false);
    let count = AtomicU32::new(0);
    let increment = || {
        while is_locked.swap(true, Acquire) {
            hint::spin_loop();
        }
        count.store(count.load(Relaxed) + 1, Relaxed);
        is_locked.store(false, unlock);
    };
    thread::scope(|scope| {
        scope.spawn(increment);
        increment();
    });
    assert_eq!(count.load(Relaxed), 2, "an update was lost");
}
