//! double-registration-fixed(N): N clients want one name. They check and register in one segment.

use crate::entry::{Entry, Parameter};
use actors::object::Object;
use std::collections::BTreeSet;

pub(crate) const ENTRY: Entry = Entry {
    name: "double-registration-fixed",
    about: "N clients register a name unless it is taken, in one segment",
    parameters: &[Parameter::new("N", 2, 2..=1000)],
    body: |sizes| double_registration_fixed(sizes[0]),
    expect: include_str!("expect.toml"),
};

fn double_registration_fixed(n: u32) {
    let names = Object::new(BTreeSet::new());
    let register = |_| {
        names.call("register", |names| {
            names.write(|names| names.insert("server"))
        })
    };
    let clients: Vec<_> = (0..n).map(register).collect();
    let registered = clients.iter().filter(|client| client.get()).count();
    assert_eq!(registered, 1);
}
