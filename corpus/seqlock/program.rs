//! seqlock: a sequence lock. The bug: the reader checks the sequence number before reading, but not
//! after it. The repair: it checks the number again.

use crate::entry::Entry;
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "seqlock",
    about: "a sequence lock whose reader does not check the sequence number again after reading",
    parameters: &[],
    body: |_| seqlock(false),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "seqlock-fixed",
    about: "a sequence lock",
    parameters: &[],
    body: |_| seqlock(true),
    expect: include_str!("fixed.toml"),
};

struct SeqLock {
    sequence: AtomicU32,
    words: [AtomicU32; 2],
}

impl SeqLock {
    fn write(&self, value: u32) {
        self.sequence.fetch_add(1, SeqCst);
        for word in &self.words {
            word.store(value, SeqCst);
        }
        self.sequence.fetch_add(1, SeqCst);
    }

    /// Reads the words. Returns `None` if a write came in between.
    fn read(&self, is_fixed: bool) -> Option<[u32; 2]> {
        let before = self.sequence.load(SeqCst);
        let words = self.words.each_ref().map(|word| word.load(SeqCst));
        let is_whole =
            before.is_multiple_of(2) && (!is_fixed || self.sequence.load(SeqCst) == before);
        is_whole.then_some(words)
    }
}

fn seqlock(is_fixed: bool) {
    let lock = SeqLock {
        sequence: AtomicU32::new(0),
        words: [0, 0].map(AtomicU32::new),
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            lock.write(1);
            lock.write(2);
        });
        if let Some([first, second]) = lock.read(is_fixed) {
            assert_eq!(first, second, "a torn read");
        }
    });
}
