//! double-registration(N): N clients want to register one name. Each checks in one step whether the
//! name is free and registers it in another. In the repaired program, a client does both in one
//! step.

use crate::entry::{Entry, Parameter};
use actors::object::Object;
use std::collections::BTreeSet;

pub(crate) const ENTRY: Entry = Entry {
    name: "double-registration",
    about: "N clients check whether a name is free and register it in separate steps",
    parameters: &[Parameter::new("N", 2, 2..=1000)],
    body: |sizes| double_registration(sizes[0], false),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "double-registration-fixed",
    about: "N clients check whether a name is free and register it in one step",
    parameters: &[Parameter::new("N", 2, 2..=1000)],
    body: |sizes| double_registration(sizes[0], true),
    expect: include_str!("fixed.toml"),
};

fn double_registration(n: u32, is_fixed: bool) {
    let names = Object::new(BTreeSet::new());
    let register = |_| {
        names.call("register", move |names| {
            if is_fixed {
                return names.write(|names| names.insert("server"));
            }
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
