//! weak-peterson: Peterson's lock (1981). The bug: with release stores and acquire loads, a thread
//! may look at the other's request before its own is visible, so both threads may enter. The
//! repair: SeqCst.

use crate::entry::Entry;
use mazurka::sync::atomic::{
    AtomicBool, AtomicU32, AtomicUsize,
    Ordering::{self, Acquire, Relaxed, Release, SeqCst},
};
use mazurka::{hint, thread};

pub(crate) const ENTRY: Entry = Entry {
    name: "weak-peterson",
    about: "Peterson's lock with acquire and release",
    parameters: &[],
    body: |_| weak_peterson(Acquire, Release),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "weak-peterson-fixed",
    about: "Peterson's lock with SeqCst",
    parameters: &[],
    body: |_| weak_peterson(SeqCst, SeqCst),
    expect: include_str!("fixed.toml"),
};

struct Peterson {
    wants: [AtomicBool; 2],
    turn: AtomicUsize,
    load: Ordering,
    store: Ordering,
}

impl Peterson {
    fn enter(&self, me: usize) {
        let other = 1 - me;
        self.wants[me].store(true, self.store);
        self.turn.store(other, self.store);
        while self.wants[other].load(self.load) && self.turn.load(self.load) == other {
            hint::spin_loop();
        }
    }

    fn leave(&self, me: usize) {
        self.wants[me].store(false, Release);
    }
}

fn weak_peterson(load: Ordering, store: Ordering) {
    let lock = Peterson {
        wants: [false, false].map(AtomicBool::new),
        turn: AtomicUsize::new(0),
        load,
        store,
    };
    let count = AtomicU32::new(0);
    let increment = |me| {
        lock.enter(me);
        count.store(count.load(Relaxed) + 1, Relaxed);
        lock.leave(me);
    };
    thread::scope(|scope| {
        scope.spawn(|| increment(1));
        increment(0);
    });
    assert_eq!(count.load(Relaxed), 2, "both threads were inside");
}
