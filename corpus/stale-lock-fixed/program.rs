//! stale-lock-fixed(N): N clients await that a server's lock is free, and take it in one segment.

use crate::entry::{Entry, Parameter};
use actors::object::Object;

pub(crate) const ENTRY: Entry = Entry {
    name: "stale-lock-fixed",
    about: "N clients await that a lock is free and take it before they release the server",
    parameters: &[Parameter::new("N", 2, 2..=100)],
    body: |sizes| stale_lock_fixed(sizes[0]),
    expect: include_str!("expect.toml"),
};

fn stale_lock_fixed(n: u32) {
    let (lock, counter) = (Object::new(false), Object::new(0));
    let client = |_| {
        let counter = counter.clone();
        lock.call("client", move |lock| {
            lock.write_when(|is_held| !is_held, |is_held| *is_held = true);
            let count = counter.read(|count| *count);
            counter.write(|counter| *counter = count + 1);
            lock.write(|is_held| *is_held = false);
        })
    };
    let clients: Vec<_> = (0..n).map(client).collect();
    for client in clients {
        client.get();
    }
    assert_eq!(counter.read(|count| *count), n);
}
