//! double-registration(N): N clients want one name. They check it and register in separate calls.

use crate::entry::{Entry, Parameter};
use actors::object::Object;
use std::collections::BTreeSet;

pub(crate) const ENTRY: Entry = Entry {
    name: "double-registration",
    about: "N clients ask whether a name is free and register it with another call",
    parameters: &[Parameter::new("N", 2, 2..=1000)],
    body: |sizes| double_registration(sizes[0]),
    expect: include_str!("expect.toml"),
};

fn double_registration(n: u32) {
    let names = Object::new(BTreeSet::new());
    let register = |_| {
        names.call("register", |names| {
            let is_free = names.read(|names| !names.contains("server"));
            if is_free {
                names.write(|names| names.insert("server"));
            }
            is_free
        })
    };
    let clients: Vec<_> = (0..n).map(register).collect();
    let registered = clients.iter().filter(|client| client.get()).count();
    assert_eq!(registered, 1, "the name has several owners");
}
