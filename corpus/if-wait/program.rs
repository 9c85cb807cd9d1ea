//! if-wait: two consumers are woken for one element, and the second one does not check again.

use crate::entry::Entry;
use mazurka::sync::{Condvar, Mutex};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "if-wait",
    about: "a consumer that waits once instead of until there is something",
    parameters: &[],
    body: |_| if_wait(),
    expect: include_str!("expect.toml"),
};

fn if_wait() {
    let (queue, filled) = (Mutex::new(Vec::new()), Condvar::new());
    let receive = || {
        let mut queue = queue.lock().unwrap();
        if queue.is_empty() {
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
