//! weak-lazy-init: double-checked initialization of a relaxed value. The bug: the flag is relaxed,
//! so a thread that sees the flag without the lock may not see the value. The repair: the store of
//! the flag releases, and the load without the lock acquires.

use crate::entry::Entry;
use mazurka::sync::Mutex;
use mazurka::sync::atomic::{
    AtomicBool, AtomicU32,
    Ordering::{self, Acquire, Relaxed, Release},
};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "weak-lazy-init",
    about: "double-checked initialization with a relaxed flag",
    parameters: &[],
    body: |_| weak_lazy_init(Relaxed, Relaxed),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "weak-lazy-init-fixed",
    about: "double-checked initialization whose flag releases and acquires",
    parameters: &[],
    body: |_| weak_lazy_init(Acquire, Release),
    expect: include_str!("fixed.toml"),
};

struct Lazy {
    is_ready: AtomicBool,
    value: AtomicU32,
    lock: Mutex<()>,
    /// The ordering of the load without the lock.
    load: Ordering,
    /// The ordering of the store.
    store: Ordering,
}

impl Lazy {
    fn get(&self) -> u32 {
        if !self.is_ready.load(self.load) {
            let _guard = self.lock.lock().unwrap();
            if !self.is_ready.load(Relaxed) {
                self.value.store(42, Relaxed);
                self.is_ready.store(true, self.store);
            }
        }
        self.value.load(Relaxed)
    }
}

fn weak_lazy_init(load: Ordering, store: Ordering) {
    let lazy = Lazy {
        is_ready: AtomicBool::new(false),
        value: AtomicU32::new(0),
        lock: Mutex::new(()),
        load,
        store,
    };
    thread::scope(|scope| {
        scope.spawn(|| assert_eq!(lazy.get(), 42));
        assert_eq!(lazy.get(), 42);
    });
}
