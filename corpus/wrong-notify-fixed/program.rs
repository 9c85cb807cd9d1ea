//! wrong-notify-fixed: a producer and consumers wait at
//! one condition variable. notify_all wakes both kinds.

use crate::entry::Entry;
use mazurka::sync::{Condvar, Mutex};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "wrong-notify-fixed",
    about: "a bounded buffer with one condition variable for all and notify_all",
    parameters: &[],
    body: |_| wrong_notify_fixed(),
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
        self.changed.notify_all();
    }

    fn take(&self) -> u32 {
        let mut place = self.place.lock().unwrap();
        loop {
            if let Some(element) = place.take() {
                self.changed.notify_all();
                return element;
            }
            place = self.changed.wait(place).unwrap();
        }
    }
}

fn wrong_notify_fixed() {
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
