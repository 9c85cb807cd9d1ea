//! abba-deadlock-fixed: both threads take the two locks in the same order.

use crate::entry::Entry;
use mazurka::sync::Mutex;
use mazurka::thread;
use std::mem;

pub(crate) const ENTRY: Entry = Entry {
    name: "abba-deadlock-fixed",
    about: "two threads take two locks in the same order",
    parameters: &[],
    body: |_| abba_deadlock_fixed(),
    expect: include_str!("expect.toml"),
};

fn abba_deadlock_fixed() {
    let (left, right) = (Mutex::new(1), Mutex::new(2));
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut from = left.lock().unwrap();
            let mut to = right.lock().unwrap();
            *to += *from;
            *from = 0;
        });
        scope.spawn(|| {
            let mut left = left.lock().unwrap();
            let mut right = right.lock().unwrap();
            mem::swap(&mut *left, &mut *right);
        });
    });
    assert_eq!(*left.lock().unwrap() + *right.lock().unwrap(), 3);
}
