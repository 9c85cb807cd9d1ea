//! aba-pointer-fixed: a popped node is not pushed again while another
//! thread may still hold its address. A new node takes its place.

use crate::entry::Entry;
use mazurka::sync::atomic::{AtomicPtr, Ordering::SeqCst};
use mazurka::thread;
use std::{array, ptr};

pub(crate) const ENTRY: Entry = Entry {
    name: "aba-pointer-fixed",
    about: "a stack of nodes linked by address, none of which returns",
    parameters: &[],
    body: |_| aba_pointer_fixed(),
    expect: include_str!("expect.toml"),
};

const NODES: usize = 4;

struct Node {
    next: AtomicPtr<Node>,
}

/// A stack of the first three nodes, linked by address.
struct Stack {
    top: AtomicPtr<Node>,
    nodes: [Node; NODES],
}

impl Stack {
    fn pop(&self) -> Option<&Node> {
        loop {
            let top = self.top.load(SeqCst);
            let node = self.at(top)?;
            let next = node.next.load(SeqCst);
            if self.top.compare_exchange(top, next, SeqCst, SeqCst).is_ok() {
                return Some(node);
            }
        }
    }

    fn push(&self, node: &Node) {
        loop {
            let top = self.top.load(SeqCst);
            node.next.store(top, SeqCst);
            let node = ptr::from_ref(node).cast_mut();
            if self.top.compare_exchange(top, node, SeqCst, SeqCst).is_ok() {
                return;
            }
        }
    }

    /// Returns the node at this address.
    fn at(&self, address: *mut Node) -> Option<&Node> {
        self.nodes.iter().find(|node| ptr::eq(*node, address))
    }
}

fn aba_pointer_fixed() {
    let empty = || AtomicPtr::new(ptr::null_mut());
    let stack = Stack {
        top: empty(),
        nodes: array::from_fn(|_| Node { next: empty() }),
    };
    for node in &stack.nodes[..3] {
        stack.push(node);
    }
    let mine = thread::scope(|scope| {
        scope.spawn(|| {
            stack.pop();
        });
        stack.pop();
        let mine = stack.pop().map(ptr::from_ref);
        stack.push(&stack.nodes[3]);
        mine
    });
    let is_shared = stack.pop().map(ptr::from_ref) == mine;
    assert!(!is_shared, "a node is in use and in the stack");
}
