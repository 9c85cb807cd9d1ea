//! aba-treiber-fixed: the top has a version number that each change
//! increments, so an old top is never mistaken for the current one.

use crate::entry::Entry;
use mazurka::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "aba-treiber-fixed",
    about: "a Treiber stack whose top has a version",
    parameters: &[],
    body: |_| aba_treiber_fixed(),
    expect: include_str!("expect.toml"),
};

/// A stack of the nodes 1 to 3, linked by index; 0 is the end.
struct Stack {
    /// Index of the top node, plus `CHANGE` times the number of changes so far.
    top: AtomicUsize,
    next: [AtomicUsize; 4],
}

/// One change in the version number of `Stack::top`.
const CHANGE: usize = 8;

impl Stack {
    fn pop(&self) -> usize {
        loop {
            let top = self.top.load(SeqCst);
            let node = top % CHANGE;
            if node == 0 {
                return 0;
            }
            let next = self.next[node].load(SeqCst);
            if self.change(top, next) {
                return node;
            }
        }
    }

    fn push(&self, node: usize) {
        loop {
            let top = self.top.load(SeqCst);
            self.next[node].store(top % CHANGE, SeqCst);
            if self.change(top, node) {
                return;
            }
        }
    }

    fn change(&self, top: usize, node: usize) -> bool {
        let changed = top - top % CHANGE + CHANGE + node;
        self.top
            .compare_exchange(top, changed, SeqCst, SeqCst)
            .is_ok()
    }
}

fn aba_treiber_fixed() {
    let stack = Stack {
        top: AtomicUsize::new(1),
        next: [0, 2, 3, 0].map(AtomicUsize::new),
    };
    let mine = thread::scope(|scope| {
        scope.spawn(|| stack.pop());
        let first = stack.pop();
        let mine = stack.pop();
        stack.push(first);
        mine
    });
    assert_ne!(stack.pop(), mine, "a node is in use and in the stack");
}
