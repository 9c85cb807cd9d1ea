//! relock-fixed: a method gives the lock back before it calls another method that takes it.

use crate::entry::Entry;
use mazurka::sync::Mutex;
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "relock-fixed",
    about: "a method takes a lock that its caller gave back",
    parameters: &[],
    body: |_| relock_fixed(),
    expect: include_str!("expect.toml"),
};

struct Counter(Mutex<u32>);

impl Counter {
    fn value(&self) -> u32 {
        *self.0.lock().unwrap()
    }

    fn increment(&self) -> u32 {
        *self.0.lock().unwrap() += 1;
        self.value()
    }
}

fn relock_fixed() {
    let counter = Counter(Mutex::new(0));
    thread::scope(|scope| {
        scope.spawn(|| counter.increment());
        counter.increment();
    });
    assert_eq!(counter.value(), 2);
}
