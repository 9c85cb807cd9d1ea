//! relock: a method that holds a lock calls another method that takes it.

use crate::entry::Entry;
use mazurka::sync::Mutex;
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "relock",
    about: "a method takes a lock that its caller has",
    parameters: &[],
    body: |_| relock(),
    expect: include_str!("expect.toml"),
};

struct Counter(Mutex<u32>);

impl Counter {
    fn value(&self) -> u32 {
        *self.0.lock().unwrap()
    }

    fn increment(&self) -> u32 {
        let mut value = self.0.lock().unwrap();
        *value += 1;
        self.value()
    }
}

fn relock() {
    let counter = Counter(Mutex::new(0));
    thread::scope(|scope| {
        scope.spawn(|| counter.increment());
        counter.increment();
    });
    assert_eq!(counter.value(), 2);
}
