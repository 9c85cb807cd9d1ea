//! abba-deadlock: two threads take the same two locks in opposite orders.

use crate::entry::Entry;
use mazurka::sync::Mutex;
use mazurka::thread;
use std::mem;

pub(crate) const ENTRY: Entry = Entry {
    name: "abba-deadlock",
    about: "two threads take two locks in opposite orders",
    parameters: &[],
    body: |_| abba_deadlock(),
    expect: include_str!("expect.toml"),
};

fn abba_deadlock() {
    let (left, right) = (Mutex::new(1), Mutex::new(2));
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut from = left.lock().unwrap();
            let mut to = right.lock().unwrap();
            *to += *from;
            *from = 0;
        });
        scope.spawn(|| {
            let mut right = right.lock().unwrap();
            let mut left = left.lock().unwrap();
            mem::swap(&mut *left, &mut *right);
        });
    });
    assert_eq!(*left.lock().unwrap() + *right.lock().unwrap(), 3);
}
