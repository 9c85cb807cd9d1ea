//! peterson: Peterson's lock (1981). The bug: a thread gives the turn away before it requests
//! entry. The repair: it requests entry first.

use crate::entry::Entry;
use mazurka::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use mazurka::{hint, thread};

pub(crate) const ENTRY: Entry = Entry {
    name: "peterson",
    about: "Peterson's lock with its two stores in the wrong order",
    parameters: &[],
    body: |_| peterson(false),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "peterson-fixed",
    about: "Peterson's lock",
    parameters: &[],
    body: |_| peterson(true),
    expect: include_str!("fixed.toml"),
};

struct Peterson {
    wants: [AtomicBool; 2],
    turn: AtomicUsize,
}

impl Peterson {
    fn enter(&self, me: usize, is_fixed: bool) {
        let other = 1 - me;
        if is_fixed {
            self.wants[me].store(true, SeqCst);
            self.turn.store(other, SeqCst);
        } else {
            self.turn.store(other, SeqCst);
            self.wants[me].store(true, SeqCst);
        }
        while self.wants[other].load(SeqCst) && self.turn.load(SeqCst) == other {
            hint::spin_loop();
        }
    }

    fn leave(&self, me: usize) {
        self.wants[me].store(false, SeqCst);
    }
}

fn peterson(is_fixed: bool) {
    let peterson = Peterson {
        wants: [false, false].map(AtomicBool::new),
        turn: AtomicUsize::new(0),
    };
    let count = AtomicUsize::new(0);
    thread::scope(|scope| {
        for me in 0..2 {
            let (peterson, count) = (&peterson, &count);
            scope.spawn(move || {
                peterson.enter(me, is_fixed);
                count.store(count.load(SeqCst) + 1, SeqCst);
                peterson.leave(me);
            });
        }
    });
    assert_eq!(count.load(SeqCst), 2, "both threads were inside");
}
