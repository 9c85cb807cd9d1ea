//! weak-treiber-stack: a Treiber stack (IBM, 1986) whose nodes are numbered from 1. The bug: the
//! compare-exchange that publishes a node is relaxed, so the thread that pops the node may not see
//! its contents. The repair: this compare-exchange releases.

use crate::entry::Entry;
use mazurka::sync::atomic::{
    AtomicUsize,
    Ordering::{self, Acquire, Relaxed, Release},
};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "weak-treiber-stack",
    about: "a Treiber stack that publishes nodes with relaxed ordering",
    parameters: &[],
    body: |_| weak_treiber_stack(Relaxed),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "weak-treiber-stack-fixed",
    about: "a Treiber stack that publishes nodes with release ordering",
    parameters: &[],
    body: |_| weak_treiber_stack(Release),
    expect: include_str!("fixed.toml"),
};

#[derive(Default)]
struct Node {
    next: AtomicUsize,
    value: AtomicUsize,
}

#[derive(Default)]
struct Stack {
    top: AtomicUsize,
    nodes: [Node; 3],
}

impl Stack {
    fn push(&self, node: usize, publish: Ordering) {
        let mut top = self.top.load(Relaxed);
        self.nodes[node].value.store(10 * node, Relaxed);
        loop {
            self.nodes[node].next.store(top, Relaxed);
            match self.top.compare_exchange(top, node, publish, Relaxed) {
                Ok(_) => return,
                Err(seen) => top = seen,
            }
        }
    }

    /// Returns a node with its value, or 0 and 0 if the stack is empty.
    fn pop(&self) -> (usize, usize) {
        let mut top = self.top.load(Acquire);
        while top != 0 {
            let next = self.nodes[top].next.load(Relaxed);
            match self.top.compare_exchange(top, next, Acquire, Acquire) {
                Ok(_) => break,
                Err(seen) => top = seen,
            }
        }
        (top, self.nodes[top].value.load(Relaxed))
    }
}

fn weak_treiber_stack(publish: Ordering) {
    let stack = Stack::default();
    thread::scope(|scope| {
        scope.spawn(|| {
            stack.push(1, publish);
            stack.push(2, publish);
        });
        let (node, value) = stack.pop();
        assert_eq!(value, 10 * node, "the node was popped before its value");
    });
}
