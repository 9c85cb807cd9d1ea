//! wrong-notify: a producer and consumers wait for one condition variable. notify_one may wake the
//! wrong kind of thread, which sleeps again. Repair: notify_all wakes both kinds.

use crate::entry::Entry;
use mazurka::sync::{Condvar, Mutex};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "wrong-notify",
    about: "a bounded buffer whose only condition variable is notified with notify_one",
    parameters: &[],
    body: |_| wrong_notify(false),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "wrong-notify-fixed",
    about: "a bounded buffer whose only condition variable is notified with notify_all",
    parameters: &[],
    body: |_| wrong_notify(true),
    expect: include_str!("fixed.toml"),
};

/// A buffer with one place.
struct Buffer {
    place: Mutex<Option<u32>>,
    changed: Condvar,
    is_fixed: bool,
}

impl Buffer {
    fn wake(&self) {
        if self.is_fixed {
            self.changed.notify_all();
        } else {
            self.changed.notify_one();
        }
    }

    fn put(&self, element: u32) {
        let mut place = self.place.lock().unwrap();
        while place.is_some() {
            place = self.changed.wait(place).unwrap();
        }
        *place = Some(element);
        self.wake();
    }

    fn take(&self) -> u32 {
        let mut place = self.place.lock().unwrap();
        loop {
            if let Some(element) = place.take() {
                self.wake();
                return element;
            }
            place = self.changed.wait(place).unwrap();
        }
    }
}

fn wrong_notify(is_fixed: bool) {
    let buffer = Buffer {
        place: Mutex::new(None),
        changed: Condvar::new(),
        is_fixed,
    };
    thread::scope(|scope| {
        let first = scope.spawn(|| buffer.take());
        let second = scope.spawn(|| buffer.take());
        buffer.put(1);
        buffer.put(2);
        assert_eq!(first.join().unwrap() + second.join().unwrap(), 3);
    });
}
