//! stale-lock-fixed: two clients await that the lock of a server is free and take it in the same segment.

use crate::entry::Entry;
use actors::object::Object;

pub(crate) const ENTRY: Entry = Entry {
    name: "stale-lock-fixed",
    about: "two clients await that a lock is free and take it before they release the server",
    parameters: &[],
    body: |_| stale_lock_fixed(),
    expect: include_str!("expect.toml"),
};

fn stale_lock_fixed() {
    let (lock, counter) = (Object::new(false), Object::new(0));
    let clients = [(), ()].map(|()| {
        let counter = counter.clone();
        lock.call("client", move |lock| {
            lock.write_when(|is_held| !is_held, |is_held| *is_held = true);
            let count = counter.read(|count| *count);
            counter.write(|counter| *counter = count + 1);
            lock.write(|is_held| *is_held = false);
        })
    });
    for client in clients {
        client.get();
    }
    assert_eq!(counter.read(|count| *count), 2);
}
