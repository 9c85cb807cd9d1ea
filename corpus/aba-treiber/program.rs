//! aba-treiber: a thread reads the top of a stack and its successor. Before its
//! compare-exchange, both are popped and the old top is pushed again. The
//! compare-exchange succeeds and makes a node that was removed the top of the stack.

use crate::entry::Entry;
use mazurka::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "aba-treiber",
    about: "a Treiber stack whose nodes return: compare-exchange takes an old top for the present one",
    parameters: &[],
    body: |_| aba_treiber(),
    expect: include_str!("expect.toml"),
};

/// A stack of the nodes 1 to 3, linked by index; 0 is the end.
struct Stack {
    top: AtomicUsize,
    next: [AtomicUsize; 4],
}

impl Stack {
    fn pop(&self) -> usize {
        loop {
            let top = self.top.load(SeqCst);
            if top == 0 {
                return 0;
            }
            let next = self.next[top].load(SeqCst);
            if self.top.compare_exchange(top, next, SeqCst, SeqCst).is_ok() {
                return top;
            }
        }
    }

    fn push(&self, node: usize) {
        loop {
            let top = self.top.load(SeqCst);
            self.next[node].store(top, SeqCst);
            if self.top.compare_exchange(top, node, SeqCst, SeqCst).is_ok() {
                return;
            }
        }
    }
}

fn aba_treiber() {
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
