//! weak-read-copy-update: read-copy-update of a pair of numbers. The writer fills a new version and
//! publishes it. It invalidates the old version if no reader is there. The bug: the store that
//! publishes the version is relaxed, so a reader may not see the version's contents. The repair:
//! this store releases.

use crate::entry::Entry;
use mazurka::sync::atomic::{
    AtomicBool, AtomicU32, AtomicUsize,
    Ordering::{self, Acquire, Relaxed, Release, SeqCst},
    fence,
};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "weak-read-copy-update",
    about: "read-copy-update that publishes a version with relaxed ordering",
    parameters: &[],
    body: |_| weak_read_copy_update(Relaxed),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "weak-read-copy-update-fixed",
    about: "read-copy-update that publishes a version with release ordering",
    parameters: &[],
    body: |_| weak_read_copy_update(Release),
    expect: include_str!("fixed.toml"),
};

struct Shared {
    /// A version is invalid if its numbers differ.
    versions: [[AtomicU32; 2]; 2],
    current: AtomicUsize,
    is_reading: AtomicBool,
}

impl Shared {
    fn update(&self, publish: Ordering) {
        for number in &self.versions[1] {
            number.store(2, Relaxed);
        }
        self.current.store(1, publish);
        fence(SeqCst);
        if !self.is_reading.load(Acquire) {
            self.versions[0][0].store(0, Relaxed);
        }
    }

    fn read(&self) {
        self.is_reading.store(true, Relaxed);
        fence(SeqCst);
        let version = &self.versions[self.current.load(Acquire)];
        let [first, second] = version.each_ref().map(|number| number.load(Relaxed));
        assert_eq!(first, second, "the reader saw an invalid version");
        self.is_reading.store(false, Release);
    }
}

fn weak_read_copy_update(publish: Ordering) {
    let shared = Shared {
        versions: [[1, 1], [0, 1]].map(|version| version.map(AtomicU32::new)),
        current: AtomicUsize::new(0),
        is_reading: AtomicBool::new(false),
    };
    thread::scope(|scope| {
        scope.spawn(|| shared.update(publish));
        shared.read();
    });
}
