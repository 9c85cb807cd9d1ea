//! stale-lock(N): N clients take a server's lock. The bug: they wait until it is free and take it
//! in separate segments. The repair: one segment does both.

use crate::entry::{Entry, Parameter};
use actors::object::Object;

pub(crate) const ENTRY: Entry = Entry {
    name: "stale-lock",
    about: "N clients wait until a lock is free, and take it in another segment",
    parameters: &[Parameter::new("N", 2, 2..=100)],
    body: |sizes| stale_lock(sizes[0], false),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "stale-lock-fixed",
    about: "N clients wait until a lock is free and take it in the same segment",
    parameters: &[Parameter::new("N", 2, 2..=100)],
    body: |sizes| stale_lock(sizes[0], true),
    expect: include_str!("fixed.toml"),
};

fn stale_lock(n: u32, is_fixed: bool) {
    let (lock, counter) = (Object::new(false), Object::new(0));
    let client = |_| {
        let counter = counter.clone();
        lock.call("client", move |lock| {
            if is_fixed {
                lock.write_when(|is_held| !is_held, |is_held| *is_held = true);
            } else {
                lock.read_when(|is_held| !is_held, |_| ());
                lock.write(|is_held| *is_held = true);
            }
            let count = counter.read(|count| *count);
            counter.write(|counter| *counter = count + 1);
            lock.write(|is_held| *is_held = false);
        })
    };
    let clients: Vec<_> = (0..n).map(client).collect();
    for client in clients {
        client.get();
    }
    assert_eq!(counter.read(|count| *count), n, "two held the lock");
}
