//! weak-michael-scott-queue: the queue of Michael and Scott (1996). Its nodes are numbered from 1,
//! and node 1 is the first dummy. The bug: the compare-exchange that links a node is relaxed, so
//! the thread that takes the node may not see its value. The repair: this compare-exchange
//! releases.

use crate::entry::Entry;
use mazurka::sync::atomic::{
    AtomicUsize,
    Ordering::{self, Acquire, Relaxed, Release},
};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "weak-michael-scott-queue",
    about: "a Michael-Scott queue that links nodes with relaxed ordering",
    parameters: &[],
    body: |_| weak_michael_scott_queue(Relaxed),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "weak-michael-scott-queue-fixed",
    about: "a Michael-Scott queue that links nodes with release ordering",
    parameters: &[],
    body: |_| weak_michael_scott_queue(Release),
    expect: include_str!("fixed.toml"),
};

#[derive(Default)]
struct Node {
    next: AtomicUsize,
    value: AtomicUsize,
}

struct Queue {
    head: AtomicUsize,
    tail: AtomicUsize,
    nodes: [Node; 4],
}

impl Queue {
    fn enqueue(&self, node: usize, link: Ordering) {
        self.nodes[node].value.store(10 * node, Relaxed);
        // The second attempt succeeds, because there is only one other producer.
        for _ in 0..2 {
            let last = self.tail.load(Acquire);
            let linked = self.nodes[last]
                .next
                .compare_exchange(0, node, link, Relaxed);
            // If another node is linked, the tail is behind.
            let end = linked.err().unwrap_or(node);
            let _ = self.tail.compare_exchange(last, end, Release, Relaxed);
            if linked.is_ok() {
                return;
            }
        }
    }

    /// Returns the node with the value.
    fn dequeue(&self) -> Option<usize> {
        let mut first = self.head.load(Acquire);
        loop {
            let next = self.nodes[first].next.load(Acquire);
            if next == 0 {
                return None;
            }
            match self.head.compare_exchange(first, next, Release, Acquire) {
                Ok(_) => return Some(next),
                Err(seen) => first = seen,
            }
        }
    }
}

fn weak_michael_scott_queue(link: Ordering) {
    let queue = Queue {
        head: AtomicUsize::new(1),
        tail: AtomicUsize::new(1),
        nodes: Default::default(),
    };
    thread::scope(|scope| {
        scope.spawn(|| queue.enqueue(2, link));
        queue.enqueue(3, link);
        let node = queue.dequeue().expect("a node is there");
        let value = queue.nodes[node].value.load(Relaxed);
        assert_eq!(value, 10 * node, "the node was taken before its value");
    });
}
