//! double-checked-lock: the load of the flag without the lock is relaxed,
//! so the value that it guards may be read before it is written.

use crate::Plain;
use crate::entry::Entry;
use mazurka::sync::Mutex;
use mazurka::sync::atomic::{AtomicBool, Ordering::Relaxed};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "double-checked-lock",
    about: "lazy initialisation whose fast path looks at a relaxed flag",
    parameters: &[],
    body: |_| double_checked_lock(),
    expect: include_str!("expect.toml"),
};

struct Lazy {
    is_ready: AtomicBool,
    value: Plain<u32>,
    lock: Mutex<()>,
}

impl Lazy {
    fn get(&self) -> u32 {
        if !self.is_ready.load(Relaxed) {
            let _guard = self.lock.lock().unwrap();
            if !self.is_ready.load(Relaxed) {
                self.value.set(42);
                self.is_ready.store(true, Relaxed);
            }
        }
        self.value.get()
    }
}

fn double_checked_lock() {
    let lazy = Lazy {
        is_ready: AtomicBool::new(false),
        value: Plain::new(0),
        lock: Mutex::new(()),
    };
    thread::scope(|scope| {
        let other = scope.spawn(|| lazy.get());
        assert_eq!(lazy.get(), 42);
        assert_eq!(other.join().unwrap(), 42);
    });
}
