//! dekker: Dekker's lock without its tie-break: both threads request entry and wait for each other.
//! In the repaired program (Dekker 1965), a thread without the turn withdraws its request until it
//! gets the turn.

use crate::entry::Entry;
use mazurka::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use mazurka::{hint, thread};

pub(crate) const ENTRY: Entry = Entry {
    name: "dekker",
    about: "Dekker's lock without its tie-break: neither thread withdraws its request",
    parameters: &[],
    body: |_| dekker(false),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "dekker-fixed",
    about: "Dekker's lock",
    parameters: &[],
    body: |_| dekker(true),
    expect: include_str!("fixed.toml"),
};

struct Dekker {
    wants: [AtomicBool; 2],
    /// The thread that may insist on its request. The buggy program has no such variable.
    turn: Option<AtomicUsize>,
}

impl Dekker {
    fn enter(&self, me: usize) {
        let other = 1 - me;
        self.wants[me].store(true, SeqCst);
        while self.wants[other].load(SeqCst) {
            if let Some(turn) = &self.turn
                && turn.load(SeqCst) != me
            {
                self.wants[me].store(false, SeqCst);
                while turn.load(SeqCst) != me {
                    hint::spin_loop();
                }
                self.wants[me].store(true, SeqCst);
            }
            hint::spin_loop();
        }
    }

    fn leave(&self, me: usize) {
        if let Some(turn) = &self.turn {
            turn.store(1 - me, SeqCst);
        }
        self.wants[me].store(false, SeqCst);
    }
}

fn dekker(is_fixed: bool) {
    let dekker = Dekker {
        wants: [false, false].map(AtomicBool::new),
        turn: is_fixed.then(|| AtomicUsize::new(0)),
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
