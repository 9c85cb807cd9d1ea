//! abba-deadlock: two threads take the same two locks in opposite orders, so each may get one lock
//! and wait for the other one. In the repaired program, both take them in the same order.

use crate::entry::Entry;
use mazurka::sync::Mutex;
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "abba-deadlock",
    about: "two threads take two locks in opposite orders",
    parameters: &[],
    body: |_| abba_deadlock(false),
    expect: include_str!("expect.toml"),
};

fn abba_deadlock(is_fixed: bool) {
    let (left, right) = (Mutex::new(1), Mutex::new(2));
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut from = left.lock().unwrap();
            let mut to = right.lock().unwrap();
            *to += *from;
            *from = 0;
        });
        scope.spawn(|| {
            let mut first = if is_fixed { &left } else { &right }.lock().unwrap();
            let mut second = if is_fixed { &right } else { &left }.lock().unwrap();
            std::mem::swap(&mut *first, &mut *second);
        });
    });
    assert_eq!(*left.lock().unwrap() + *right.lock().unwrap(), 3);
}

pub(crate) const FIXED: Entry = Entry {
    name: "abba-deadlock-fixed",
    about: "two threads take two locks in the same order",
    parameters: &[],
    body: |_| abba_deadlock(true),
    expect: include_str!("fixed.toml"),
};
