//! reference-count: the last owner of a value destroys it. The bug: the count of owners is relaxed,
//! so another owner's read may race with that. The repair: each decrement releases, and the last
//! owner acquires before it destroys the value.

use crate::Plain;
use crate::entry::Entry;
use mazurka::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
    fence,
};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "reference-count",
    about: "a reference count whose decrements are relaxed",
    parameters: &[],
    body: |_| reference_count(false),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "reference-count-fixed",
    about: "a reference count as in std::sync::Arc",
    parameters: &[],
    body: |_| reference_count(true),
    expect: include_str!("fixed.toml"),
};

struct Shared {
    owners: AtomicU32,
    value: Plain<u32>,
}

impl Shared {
    /// Gives up a share. The last owner destroys the value.
    fn release(&self, is_fixed: bool) {
        let ordering = if is_fixed { Release } else { Relaxed };
        if self.owners.fetch_sub(1, ordering) == 1 {
            if is_fixed {
                fence(Acquire);
            }
            self.value.set(0);
        }
    }
}

fn reference_count(is_fixed: bool) {
    let shared = Shared {
        owners: AtomicU32::new(2),
        value: Plain::new(1),
    };
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                shared.value.get();
                shared.release(is_fixed);
            });
        }
    });
}
