//! stale-lock: two clients ask a server whether its lock is free, and take it with another call.

use crate::entry::Entry;
use actors::object::Object;

pub(crate) const ENTRY: Entry = Entry {
    name: "stale-lock",
    about: "two clients ask whether a lock is free, and take it with another call",
    parameters: &[],
    body: |_| stale_lock(),
    expect: include_str!("expect.toml"),
};

fn stale_lock() {
    let (lock, counter) = (Object::new(false), Object::new(0));
    let clients = [(), ()].map(|()| {
        let counter = counter.clone();
        lock.call("client", move |lock| {
            lock.read_when(|is_held| !is_held, |_| ());
            lock.write(|is_held| *is_held = true);
            let count = counter.read(|count| *count);
            counter.write(|counter| *counter = count + 1);
            lock.write(|is_held| *is_held = false);
        })
    });
    for client in clients {
        client.get();
    }
    assert_eq!(counter.read(|count| *count), 2, "both held the lock");
}
