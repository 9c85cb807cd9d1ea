//! weak-arc: a reference count as in Rust's Arc. The last owner destroys the value. The bug: the
//! last owner does not acquire, so nothing orders the other owner's read before the destruction.
//! The repair: an acquire fence before the destruction.

use crate::Plain;
use crate::entry::Entry;
use mazurka::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, Release},
    fence,
};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "weak-arc",
    about: "a reference count whose last owner does not acquire",
    parameters: &[],
    body: |_| weak_arc(false),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "weak-arc-fixed",
    about: "a reference count whose last owner acquires",
    parameters: &[],
    body: |_| weak_arc(true),
    expect: include_str!("fixed.toml"),
};

struct Shared {
    owners: AtomicU32,
    value: Plain<u32>,
}

impl Shared {
    /// Reads the value and gives up a share. The last owner destroys the value.
    fn use_up(&self, has_fence: bool) {
        self.value.get();
        if self.owners.fetch_sub(1, Release) == 1 {
            if has_fence {
                fence(Acquire);
            }
            self.value.set(0);
        }
    }
}

fn weak_arc(has_fence: bool) {
    let shared = Shared {
        owners: AtomicU32::new(2),
        value: Plain::new(1),
    };
    thread::scope(|scope| {
        scope.spawn(|| shared.use_up(has_fence));
        shared.use_up(has_fence);
    });
}
