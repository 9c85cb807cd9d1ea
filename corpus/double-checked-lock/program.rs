//! double-checked-lock: the load of the flag without the lock is relaxed, so the value that the
//! flag guards may be read before it is written. In the repaired program, the flag is stored with
//! release and loaded with acquire.

use crate::Plain;
use crate::entry::Entry;
use mazurka::sync::Mutex;
use mazurka::sync::atomic::{
    AtomicBool,
    Ordering::{self, Acquire, Relaxed, Release},
};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "double-checked-lock",
    about: "lazy initialization whose fast path loads the flag with relaxed ordering",
    parameters: &[],
    body: |_| double_checked_lock(Relaxed, Relaxed),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "double-checked-lock-fixed",
    about: "lazy initialization whose fast path loads the flag with acquire ordering",
    parameters: &[],
    body: |_| double_checked_lock(Acquire, Release),
    expect: include_str!("fixed.toml"),
};

struct Lazy {
    is_ready: AtomicBool,
    value: Plain<u32>,
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
                self.value.set(42);
                self.is_ready.store(true, self.store);
            }
        }
        self.value.get()
    }
}

fn double_checked_lock(load: Ordering, store: Ordering) {
    let lazy = Lazy {
        is_ready: AtomicBool::new(false),
        value: Plain::new(0),
        lock: Mutex::new(()),
        load,
        store,
    };
    thread::scope(|scope| {
        let other = scope.spawn(|| lazy.get());
        assert_eq!(lazy.get(), 42);
        assert_eq!(other.join().unwrap(), 42);
    });
}
