//! poison: a thread panics while it holds a lock. The bug: main does not expect that the lock may
//! be poisoned. The repair: main takes the value from the poisoned lock.

use crate::entry::Entry;
use mazurka::sync::{Arc, Mutex, PoisonError};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "poison",
    about: "main unwraps a lock that a panicking worker poisons",
    parameters: &[],
    body: |_| poison(false),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "poison-fixed",
    about: "main takes the value from a lock that a panicking worker poisons",
    parameters: &[],
    body: |_| poison(true),
    expect: include_str!("fixed.toml"),
};

fn poison(is_fixed: bool) {
    let numbers = Arc::new(Mutex::new(vec![1]));
    let worker = thread::spawn({
        let numbers = Arc::clone(&numbers);
        move || {
            let mut numbers = numbers.lock().unwrap();
            numbers.push(2);
            assert!(numbers.len() > 2, "the worker gives up");
        }
    });
    let length = if is_fixed {
        numbers.lock().unwrap_or_else(PoisonError::into_inner).len()
    } else {
        numbers.lock().unwrap().len()
    };
    assert!(length == 1 || length == 2);
    assert!(worker.join().is_err());
}
