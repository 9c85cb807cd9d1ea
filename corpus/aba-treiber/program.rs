//! aba-treiber: a thread reads the top of a stack and its successor. Before its
//! compare-exchange, both are popped and the old top is pushed again. The compare-exchange
//! succeeds and makes a node that was removed the top of the stack. In the repaired program, the
//! top has a version number, which each change increments.

use crate::entry::Entry;
use mazurka::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "aba-treiber",
    about: "a Treiber stack of reused nodes: an old top is mistaken for the current one",
    parameters: &[],
    body: |_| aba_treiber(false),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "aba-treiber-fixed",
    about: "a Treiber stack of reused nodes whose top has a version number",
    parameters: &[],
    body: |_| aba_treiber(true),
    expect: include_str!("fixed.toml"),
};

/// A stack of the nodes 1 to 3, linked by index; 0 is the end.
struct Stack {
    /// Index of the top node, plus `VERSION` times the version number.
    top: AtomicUsize,
    next: [AtomicUsize; 4],
    is_fixed: bool,
}

/// One change in the version number of `Stack::top`.
const VERSION: usize = 8;

impl Stack {
    fn pop(&self) -> usize {
        loop {
            let top = self.top.load(SeqCst);
            let node = top % VERSION;
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
            self.next[node].store(top % VERSION, SeqCst);
            if self.change(top, node) {
                return;
            }
        }
    }

    /// Makes `node` the top if the top is still `top`.
    fn change(&self, top: usize, node: usize) -> bool {
        let version = if self.is_fixed {
            top - top % VERSION + VERSION
        } else {
            0
        };
        self.top
            .compare_exchange(top, version + node, SeqCst, SeqCst)
            .is_ok()
    }
}

fn aba_treiber(is_fixed: bool) {
    let stack = Stack {
        top: AtomicUsize::new(1),
        next: [0, 2, 3, 0].map(AtomicUsize::new),
        is_fixed,
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
