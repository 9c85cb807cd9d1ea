//! reference-count-fixed: each decrement releases, and
//! the last owner acquires before it destroys the value.

use crate::Plain;
use crate::entry::Entry;
use mazurka::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, Release},
    fence,
};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "reference-count-fixed",
    about: "a reference count as in std::sync::Arc",
    parameters: &[],
    body: |_| reference_count_fixed(),
    expect: include_str!("expect.toml"),
};

struct Shared {
    owners: AtomicU32,
    value: Plain<u32>,
}

impl Shared {
    /// Gives up a share. The last owner destroys the value.
    fn release(&self) {
        if self.owners.fetch_sub(1, Release) == 1 {
            fence(Acquire);
            self.value.set(0);
        }
    }
}

fn reference_count_fixed() {
    let shared = Shared {
        owners: AtomicU32::new(2),
        value: Plain::new(1),
    };
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                shared.value.get();
                shared.release();
            });
        }
    });
}
