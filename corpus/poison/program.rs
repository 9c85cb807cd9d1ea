//! poison: a thread panics while it holds a lock. The next thread does not expect a poisoned lock.

use crate::entry::Entry;
use mazurka::sync::{Arc, Mutex};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "poison",
    about: "a worker panics under a lock that main then unwraps",
    parameters: &[],
    body: |_| poison(),
    expect: include_str!("expect.toml"),
};

fn poison() {
    let numbers = Arc::new(Mutex::new(vec![1]));
    let worker = thread::spawn({
        let numbers = Arc::clone(&numbers);
        move || {
            let mut numbers = numbers.lock().unwrap();
            numbers.push(2);
            assert!(numbers.len() > 2, "the worker gives up");
        }
    });
    let length = numbers.lock().unwrap().len();
    assert!(length == 1 || length == 2);
    assert!(worker.join().is_err());
}
