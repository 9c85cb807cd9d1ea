//! peterson-fixed: Peterson's lock (1981): first the request, then the turn.

use crate::entry::Entry;
use mazurka::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use mazurka::{hint, thread};

pub(crate) const ENTRY: Entry = Entry {
    name: "peterson-fixed",
    about: "Peterson's lock",
    parameters: &[],
    body: |_| peterson_fixed(),
    expect: include_str!("expect.toml"),
};

struct Peterson {
    wants: [AtomicBool; 2],
    turn: AtomicUsize,
}

impl Peterson {
    fn enter(&self, me: usize) {
        let other = 1 - me;
        self.wants[me].store(true, SeqCst);
        self.turn.store(other, SeqCst);
        while self.wants[other].load(SeqCst) && self.turn.load(SeqCst) == other {
            hint::spin_loop();
        }
    }

    fn leave(&self, me: usize) {
        self.wants[me].store(false, SeqCst);
    }
}

fn peterson_fixed() {
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
