//! peterson: Peterson's lock with its two stores in the wrong
//! order: a thread gives the turn away before it requests entry.

use crate::entry::Entry;
use mazurka::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use mazurka::{hint, thread};

pub(crate) const ENTRY: Entry = Entry {
    name: "peterson",
    about: "Peterson's lock that gives the turn away before it shows its wish",
    parameters: &[],
    body: |_| peterson(),
    expect: include_str!("expect.toml"),
};

struct Peterson {
    wants: [AtomicBool; 2],
    turn: AtomicUsize,
}

impl Peterson {
    fn enter(&self, me: usize) {
        let other = 1 - me;
        self.turn.store(other, SeqCst);
        self.wants[me].store(true, SeqCst);
        while self.wants[other].load(SeqCst) && self.turn.load(SeqCst) == other {
            hint::spin_loop();
        }
    }

    fn leave(&self, me: usize) {
        self.wants[me].store(false, SeqCst);
    }
}

fn peterson() {
    let peterson = Peterson {
        wants: [false, false].map(AtomicBool::new),
        turn: AtomicUsize::new(0),
    };
    let count = AtomicUsize::new(0);
    thread::scope(|scope| {
        for me in 0..2 {
            let (peterson, count) = (&peterson, &count);
            scope.spawn(move || {
                peterson.enter(me);
                count.store(count.load(SeqCst) + 1, SeqCst);
                peterson.leave(me);
            });
        }
    });
    assert_eq!(count.load(SeqCst), 2, "both threads were inside");
}
