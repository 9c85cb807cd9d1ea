//! poison-fixed: main takes the value from the poisoned lock.

use crate::entry::Entry;
use mazurka::sync::{Arc, Mutex, PoisonError};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "poison-fixed",
    about: "a worker panics under a lock that main then recovers",
    parameters: &[],
    body: |_| poison_fixed(),
    expect: include_str!("expect.toml"),
};

fn poison_fixed() {
    let numbers = Arc::new(Mutex::new(vec![1]));
    let worker = thread::spawn({
        let numbers = Arc::clone(&numbers);
        move || {
            let mut numbers = numbers.lock().unwrap();
            numbers.push(2);
            assert!(numbers.len() > 2, "the worker gives up");
        }
    });
    let length = numbers.lock().unwrap_or_else(PoisonError::into_inner).len();
    assert!(length == 1 || length == 2);
    assert!(worker.join().is_err());
}
