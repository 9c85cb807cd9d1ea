//! relock: a method of a counter calls another one. The bug: the caller holds the lock that the
//! called method takes. The repair: it releases the lock before the call.

use crate::entry::Entry;
use mazurka::sync::Mutex;
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "relock",
    about: "a method that holds a lock calls a method that takes it",
    parameters: &[],
    body: |_| relock(false),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "relock-fixed",
    about: "a method releases a lock before it calls a method that takes it",
    parameters: &[],
    body: |_| relock(true),
    expect: include_str!("fixed.toml"),
};

struct Counter(Mutex<u32>);

impl Counter {
    fn value(&self) -> u32 {
        *self.0.lock().unwrap()
    }

    fn increment(&self, is_fixed: bool) -> u32 {
        let mut value = self.0.lock().unwrap();
        *value += 1;
        if is_fixed {
            drop(value);
        }
        self.value()
    }
}

fn relock(is_fixed: bool) {
    let counter = Counter(Mutex::new(0));
    thread::scope(|scope| {
        scope.spawn(|| counter.increment(is_fixed));
        counter.increment(is_fixed);
    });
    assert_eq!(counter.value(), 2);
}
