//! weak-dekker: the entry of Dekker's lock, with a single attempt. A thread requests entry and
//! gives up if the other thread has requested it, too. The bug: a release store and an acquire load
//! do not order a thread's own request before the load of the other request, so each thread may
//! miss the other's request. The repair: SeqCst.

use crate::entry::Entry;
use mazurka::sync::atomic::{
    AtomicBool, AtomicU32,
    Ordering::{self, Acquire, Relaxed, Release, SeqCst},
};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "weak-dekker",
    about: "the entry of Dekker's lock with acquire and release",
    parameters: &[],
    body: |_| weak_dekker(Acquire, Release),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "weak-dekker-fixed",
    about: "the entry of Dekker's lock with SeqCst",
    parameters: &[],
    body: |_| weak_dekker(SeqCst, SeqCst),
    expect: include_str!("fixed.toml"),
};

fn weak_dekker(load: Ordering, store: Ordering) {
    let wants = [false, false].map(AtomicBool::new);
    let count = AtomicU32::new(0);
    // Returns whether the thread was inside.
    let attempt = |me: usize| {
        wants[me].store(true, store);
        let is_inside = !wants[1 - me].load(load);
        if is_inside {
            count.store(count.load(Relaxed) + 1, Relaxed);
        }
        wants[me].store(false, Release);
        is_inside
    };
    let inside = thread::scope(|scope| {
        let other = scope.spawn(|| attempt(1));
        u32::from(attempt(0)) + u32::from(other.join().unwrap())
    });
    assert_eq!(count.load(Relaxed), inside, "both threads were inside");
}
