//! if-wait: two consumers are woken for one element, and the second one does not check again. The
//! repair: a woken consumer checks again whether there is an element.

use crate::entry::Entry;
use mazurka::sync::{Condvar, Mutex};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "if-wait",
    about: "a consumer waits once, even if the queue is still empty when it wakes",
    parameters: &[],
    body: |_| if_wait(false),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "if-wait-fixed",
    about: "a consumer waits as long as the queue is empty",
    parameters: &[],
    body: |_| if_wait(true),
    expect: include_str!("fixed.toml"),
};

fn if_wait(is_fixed: bool) {
    let (queue, filled) = (Mutex::new(Vec::new()), Condvar::new());
    let receive = || {
        let mut queue = queue.lock().unwrap();
        while queue.is_empty() {
            queue = filled.wait(queue).unwrap();
            if !is_fixed {
                break; // The bug: the queue may be empty again.
            }
        }
        queue.pop()
    };
    thread::scope(|scope| {
        let first = scope.spawn(receive);
        let second = scope.spawn(receive);
        for element in 1..=2 {
            queue.lock().unwrap().push(element);
            filled.notify_all();
        }
        assert!(first.join().unwrap().is_some(), "woken for nothing");
        assert!(second.join().unwrap().is_some(), "woken for nothing");
    });
}
