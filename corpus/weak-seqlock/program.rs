//! weak-seqlock: a sequence lock whose words are relaxed. The bug: no fences. The writer's first
//! store of the sequence number may become visible after the words, and the reader's second load of
//! the number may be older than the words that it has read. So the reader may accept half a write.
//! The repair: a release fence before the words are written, and an acquire fence after they are
//! read.

use crate::entry::Entry;
use mazurka::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
    fence,
};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "weak-seqlock",
    about: "a sequence lock of relaxed words without fences",
    parameters: &[],
    body: |_| weak_seqlock(false),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "weak-seqlock-fixed",
    about: "a sequence lock of relaxed words with fences",
    parameters: &[],
    body: |_| weak_seqlock(true),
    expect: include_str!("fixed.toml"),
};

struct SeqLock {
    sequence: AtomicU32,
    words: [AtomicU32; 2],
    has_fences: bool,
}

impl SeqLock {
    fn write(&self, value: u32) {
        let before = self.sequence.load(Relaxed);
        self.sequence.store(before + 1, Relaxed);
        if self.has_fences {
            fence(Release);
        }
        for word in &self.words {
            word.store(value, Relaxed);
        }
        self.sequence.store(before + 2, Release);
    }

    /// Reads the words. Returns `None` if a write came in between.
    fn read(&self) -> Option<[u32; 2]> {
        let before = self.sequence.load(Acquire);
        let words = self.words.each_ref().map(|word| word.load(Relaxed));
        if self.has_fences {
            fence(Acquire);
        }
        let after = self.sequence.load(Relaxed);
        (before.is_multiple_of(2) && after == before).then_some(words)
    }
}

fn weak_seqlock(has_fences: bool) {
    let lock = SeqLock {
        sequence: AtomicU32::new(0),
        words: [0, 0].map(AtomicU32::new),
        has_fences,
    };
    thread::scope(|scope| {
        scope.spawn(|| lock.write(1));
        if let Some([first, second]) = lock.read() {
            assert_eq!(first, second, "a torn read");
        }
    });
}
