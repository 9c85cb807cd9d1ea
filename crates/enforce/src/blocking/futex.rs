//! Futexes of the program: the thread that has waited longest is woken first.

use super::Deadline;
use super::latch::Latch;
use super::queue::{Queue, Waiter, Woken};
use crate::{begin, end, enforcement};
use explore::OpKind;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

/// How a wait ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waited {
    /// Another thread woke the waiting thread.
    Woken,
    /// The word did not have the expected value.
    Changed,
    /// The deadline passed.
    Expired,
}

/// The threads that wait at some of the words. The address of a word determines its bucket.
struct Bucket {
    latch: Latch,
    queue: Queue,
}

// SAFETY: the queue is used only under the latch.
unsafe impl Sync for Bucket {}

const BUCKETS: usize = 64;

static ALL: [Bucket; BUCKETS] = [const {
    Bucket {
        latch: Latch::new(),
        queue: Queue::new(),
    }
}; BUCKETS];

fn bucket(word: usize) -> &'static Bucket {
    &ALL[(word >> 2) % BUCKETS]
}

/// Waits at a word until another thread wakes this thread or the deadline has passed. Does not wait
/// if the word does not have the expected value.
pub fn futex_wait(word: &AtomicU32, expected: u32, deadline: Option<Deadline>) -> Waited {
    let address = std::ptr::from_ref(word).addr();
    let bucket = bucket(address);
    let waiter = Waiter::new(address);
    begin(OpKind::CondvarEnqueue);
    let waits = bucket.latch.hold(|| {
        let waits = word.load(SeqCst) == expected;
        if waits {
            // SAFETY: the waiter stays here until it is woken or leaves the queue below.
            unsafe { bucket.queue.push(&waiter) };
        }
        waits
    });
    end();
    if !waits {
        return Waited::Changed;
    }
    let Some(deadline) = deadline else {
        waiter.wait(None);
        return Waited::Woken;
    };
    if !enforcement::decides_next() {
        waiter.wait(Some(deadline));
    }
    begin(OpKind::CondvarResolve);
    let is_woken = bucket.latch.hold(|| {
        let is_woken = waiter.is_woken();
        if !is_woken {
            bucket.queue.remove(&waiter);
        }
        is_woken
    });
    end();
    match is_woken {
        true => Waited::Woken,
        false => Waited::Expired,
    }
}

/// Wakes at most `most` threads that wait at the word. Returns their number.
pub fn futex_wake(word: &AtomicU32, most: u32) -> u32 {
    let address = std::ptr::from_ref(word).addr();
    let bucket = bucket(address);
    let mut woken = Vec::new();
    begin(OpKind::CondvarBroadcast);
    bucket.latch.hold(|| {
        while woken.len() < most as usize {
            match bucket.queue.take(0, |what| what == address) {
                Some(next) => woken.push(next),
                None => break,
            }
        }
    });
    end();
    let count = woken.len() as u32;
    woken.into_iter().for_each(Woken::wake);
    count
}
