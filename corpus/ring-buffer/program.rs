//! ring-buffer: a ring of one producer and one consumer (Lamport). The bug: the producer publishes
//! a place before it fills it. The repair: it fills the place first.

use crate::Plain;
use crate::entry::Entry;
use mazurka::sync::atomic::{
    AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "ring-buffer",
    about: "a ring of one producer and one consumer that publishes a place before filling it",
    parameters: &[],
    body: |_| ring_buffer(false),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "ring-buffer-fixed",
    about: "a ring of one producer and one consumer",
    parameters: &[],
    body: |_| ring_buffer(true),
    expect: include_str!("fixed.toml"),
};

const PLACES: usize = 2;

/// One producer advances `tail`, one consumer advances `head`.
struct Ring {
    places: [Plain<u32>; PLACES],
    head: AtomicUsize,
    tail: AtomicUsize,
}

impl Ring {
    fn push(&self, element: u32, is_fixed: bool) -> bool {
        let tail = self.tail.load(Relaxed);
        let has_room = tail - self.head.load(Acquire) < PLACES;
        if has_room && is_fixed {
            self.places[tail % PLACES].set(element);
            self.tail.store(tail + 1, Release);
        } else if has_room {
            self.tail.store(tail + 1, Release);
            self.places[tail % PLACES].set(element);
        }
        has_room
    }

    fn pop(&self) -> Option<u32> {
        let head = self.head.load(Relaxed);
        if head == self.tail.load(Acquire) {
            return None;
        }
        let element = self.places[head % PLACES].get();
        self.head.store(head + 1, Release);
        Some(element)
    }
}

fn ring_buffer(is_fixed: bool) {
    let ring = Ring {
        places: [0, 0].map(Plain::new),
        head: AtomicUsize::new(0),
        tail: AtomicUsize::new(0),
    };
    thread::scope(|scope| {
        scope.spawn(|| (1..=3).all(|element| ring.push(element, is_fixed)));
        let popped: Vec<u32> = (0..3).filter_map(|_| ring.pop()).collect();
        assert!(popped.iter().copied().eq(1..=popped.len() as u32));
    });
}
