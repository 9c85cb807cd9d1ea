//! weak-ring-buffer: a ring buffer with one producer and one consumer. The bug: the indices are
//! relaxed, so the consumer may see that there is an item, but not the item. The repair: a store of
//! an index releases, and a load of the other thread's index acquires.

use crate::entry::Entry;
use mazurka::sync::atomic::{
    AtomicUsize,
    Ordering::{self, Acquire, Relaxed, Release},
};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "weak-ring-buffer",
    about: "a ring buffer with relaxed indices",
    parameters: &[],
    body: |_| weak_ring_buffer(Relaxed, Relaxed),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "weak-ring-buffer-fixed",
    about: "a ring buffer whose indices are stored with release and loaded with acquire",
    parameters: &[],
    body: |_| weak_ring_buffer(Acquire, Release),
    expect: include_str!("fixed.toml"),
};

const CAPACITY: usize = 2;

struct RingBuffer {
    head: AtomicUsize,
    tail: AtomicUsize,
    slots: [AtomicUsize; CAPACITY],
    load: Ordering,
    store: Ordering,
}

impl RingBuffer {
    /// Returns `false` if the buffer is full.
    fn push(&self, item: usize) -> bool {
        let tail = self.tail.load(Relaxed);
        if tail - self.head.load(self.load) == CAPACITY {
            return false;
        }
        self.slots[tail % CAPACITY].store(item, Relaxed);
        self.tail.store(tail + 1, self.store);
        true
    }

    /// Returns `None` if the buffer is empty.
    fn pop(&self) -> Option<usize> {
        let head = self.head.load(Relaxed);
        if head == self.tail.load(self.load) {
            return None;
        }
        let item = self.slots[head % CAPACITY].load(Relaxed);
        self.head.store(head + 1, self.store);
        Some(item)
    }
}

fn weak_ring_buffer(load: Ordering, store: Ordering) {
    let buffer = RingBuffer {
        head: AtomicUsize::new(0),
        tail: AtomicUsize::new(0),
        slots: Default::default(),
        load,
        store,
    };
    thread::scope(|scope| {
        scope.spawn(|| (1..=3).all(|item| buffer.push(item)));
        let items = (1..=3).map_while(|expected| Some((expected, buffer.pop()?)));
        for (expected, item) in items {
            assert_eq!(item, expected, "an item was taken before it was there");
        }
    });
}
