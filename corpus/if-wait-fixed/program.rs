//! if-wait-fixed: a woken consumer checks again whether there is an element.

use crate::entry::Entry;
use mazurka::sync::{Condvar, Mutex};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "if-wait-fixed",
    about: "a consumer that waits until there is something",
    parameters: &[],
    body: |_| if_wait_fixed(),
    expect: include_str!("expect.toml"),
};

fn if_wait_fixed() {
    let (queue, filled) = (Mutex::new(Vec::new()), Condvar::new());
    let receive = || {
        let mut queue = queue.lock().unwrap();
        while queue.is_empty() {
            queue = filled.wait(queue).unwrap();
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
