//! dekker: Dekker's lock without its tie-break: both threads request entry and wait for each other.

use crate::entry::Entry;
use mazurka::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use mazurka::{hint, thread};

pub(crate) const ENTRY: Entry = Entry {
    name: "dekker",
    about: "Dekker's lock in which nobody gives way",
    parameters: &[],
    body: |_| dekker(),
    expect: include_str!("expect.toml"),
};

struct Dekker {
    wants: [AtomicBool; 2],
}

impl Dekker {
    fn enter(&self, me: usize) {
        let other = 1 - me;
        self.wants[me].store(true, SeqCst);
        while self.wants[other].load(SeqCst) {
            hint::spin_loop();
        }
    }

    fn leave(&self, me: usize) {
        self.wants[me].store(false, SeqCst);
    }
}

fn dekker() {
    let dekker = Dekker {
        wants: [false, false].map(AtomicBool::new),
    };
    let count = AtomicUsize::new(0);
    thread::scope(|scope| {
        for me in 0..2 {
            let (dekker, count) = (&dekker, &count);
            scope.spawn(move || {
                dekker.enter(me);
                count.store(count.load(SeqCst) + 1, SeqCst);
                dekker.leave(me);
            });
        }
    });
    assert_eq!(count.load(SeqCst), 2, "both threads were inside");
}
