//! reference-count: the count of owners is relaxed, so the last
//! owner may destroy the value while another owner still reads it.

use crate::Plain;
use crate::entry::Entry;
use mazurka::sync::atomic::{AtomicU32, Ordering::Relaxed};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "reference-count",
    about: "a reference count whose decrements are relaxed",
    parameters: &[],
    body: |_| reference_count(),
    expect: include_str!("expect.toml"),
};

struct Shared {
    owners: AtomicU32,
    value: Plain<u32>,
}

impl Shared {
    /// Gives up a share. The last owner destroys the value.
    fn release(&self) {
        if self.owners.fetch_sub(1, Relaxed) == 1 {
            self.value.set(0);
        }
    }
}

fn reference_count() {
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
