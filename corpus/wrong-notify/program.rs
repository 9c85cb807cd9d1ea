//! wrong-notify: a producer and consumers wait at one
//! condition variable. notify_one may wake the wrong kind.

use crate::entry::Entry;
use mazurka::sync::{Condvar, Mutex};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "wrong-notify",
    about: "a bounded buffer with one condition variable for all and notify_one",
    parameters: &[],
    body: |_| wrong_notify(),
    expect: include_str!("expect.toml"),
};

/// A buffer with one place.
struct Buffer {
    place: Mutex<Option<u32>>,
    changed: Condvar,
}

impl Buffer {
    fn put(&self, element: u32) {
        let mut place = self.place.lock().unwrap();
        while place.is_some() {
            place = self.changed.wait(place).unwrap();
        }
        *place = Some(element);
        self.changed.notify_one();
    }

    fn take(&self) -> u32 {
        let mut place = self.place.lock().unwrap();
        loop {
            if let Some(element) = place.take() {
                self.changed.notify_one();
                return element;
            }
            place = self.changed.wait(place).unwrap();
        }
    }
}

fn wrong_notify() {
    let buffer = Buffer {
        place: Mutex::new(None),
        changed: Condvar::new(),
    };
    thread::scope(|scope| {
        let first = scope.spawn(|| buffer.take());
        let second = scope.spawn(|| buffer.take());
        buffer.put(1);
        buffer.put(2);
        assert_eq!(first.join().unwrap() + second.join().unwrap(), 3);
    });
}
