//! aba-pointer: as in aba-treiber, a popped node is pushed again while another thread still holds
//! its address, but here the nodes are linked by address. The repaired program pushes a spare node
//! instead.

use crate::entry::Entry;
use mazurka::sync::atomic::{AtomicPtr, Ordering::SeqCst};
use mazurka::thread;
use std::{array, ptr};

pub(crate) const ENTRY: Entry = Entry {
    name: "aba-pointer",
    about: "a stack of nodes linked by address, one of which is popped and pushed again",
    parameters: &[],
    body: |_| aba_pointer::<3>(),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "aba-pointer-fixed",
    about: "a stack of nodes linked by address, none of which is pushed twice",
    parameters: &[],
    body: |_| aba_pointer::<4>(),
    expect: include_str!("fixed.toml"),
};

struct Node {
    next: AtomicPtr<Node>,
}

/// A stack of the first three nodes, linked by address.
struct Stack<const NODES: usize> {
    top: AtomicPtr<Node>,
    nodes: [Node; NODES],
}

impl<const NODES: usize> Stack<NODES> {
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

fn aba_pointer<const NODES: usize>() {
    let empty = || AtomicPtr::new(ptr::null_mut());
    let stack = Stack::<NODES> {
        top: empty(),
        nodes: array::from_fn(|_| Node { next: empty() }),
    };
    for node in &stack.nodes[..3] {
        stack.push(node);
    }
    let spare = stack.nodes.get(3);
    let mine = thread::scope(|scope| {
        scope.spawn(|| {
            stack.pop();
        });
        let first = stack.pop().expect("at most two of three are popped");
        let mine = stack.pop().map(ptr::from_ref);
        stack.push(spare.unwrap_or(first));
        mine
    });
    let is_shared = stack.pop().map(ptr::from_ref) == mine;
    assert!(!is_shared, "a node is in use and in the stack");
}
