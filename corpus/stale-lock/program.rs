//! stale-lock(N): N clients query whether a server's lock is free, and take it in another call.

use crate::entry::{Entry, Parameter};
use actors::object::Object;

pub(crate) const ENTRY: Entry = Entry {
    name: "stale-lock",
    about: "N clients ask whether a lock is free, and take it with another call",
    parameters: &[Parameter::new("N", 2, 2..=100)],
    body: |sizes| stale_lock(sizes[0]),
    expect: include_str!("expect.toml"),
};

fn stale_lock(n: u32) {
    let (lock, counter) = (Object::new(false), Object::new(0));
    let client = |_| {
        let counter = counter.clone();
        lock.call("client", move |lock| {
            lock.read_when(|is_held| !is_held, |_| ());
            lock.write(|is_held| *is_held = true);
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
