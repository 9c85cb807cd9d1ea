//! indexer(N): N threads each insert four keys into one hash
//! table without locks (Flanagan and Godefroid, POPL 2005).

use crate::entry::{Entry, Parameter};
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::thread;

pub(crate) const ENTRY: Entry = Entry {
    name: "indexer",
    about: "N threads insert four keys each into a hash table of 128 places by compare-exchange",
    // 32 threads fill the table. A further one would search for a free place forever.
    parameters: &[Parameter::new("N", 12, 1..=32)],
    body: |sizes| indexer(sizes[0]),
    expect: include_str!("expect.toml"),
};

const PLACES: usize = 128;
const KEYS: u32 = 4;

fn indexer(n: u32) {
    let table = std::array::from_fn(|_| AtomicU32::new(0));
    thread::scope(|scope| {
        for thread in 0..n {
            let table = &table;
            scope.spawn(move || {
                for message in 1..=KEYS {
                    insert(table, message * 11 + thread);
                }
            });
        }
    });
}

fn insert(table: &[AtomicU32; PLACES], key: u32) {
    let mut hash = (key as usize * 7) % PLACES;
    while table[hash]
        .compare_exchange(0, key, SeqCst, SeqCst)
        .is_err()
    {
        hash = (hash + 1) % PLACES;
    }
}
