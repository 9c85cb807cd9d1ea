//! registration(N): N clients register with a server in any order (a benchmark of
//! Albert et al., CAV 2017). The order does not matter: the server keeps a set.

use crate::entry::{Entry, Parameter};
use actors::object::{Calls, Next, Object, Task};
use std::collections::BTreeSet;

pub(crate) const ENTRY: Entry = Entry {
    name: "registration",
    about: "N clients register with a server, and none is told that it is registered already",
    parameters: &[Parameter::new("N", 4, 1..=1000)],
    body: |sizes| registration(sizes[0]),
    expect: include_str!("expect.toml"),
};

#[derive(Clone, PartialEq, Eq, Hash)]
struct Register {
    client: u32,
}

impl Task for Register {
    type Touches = Object<BTreeSet<u32>>;
    type Output = bool;

    fn method(&self) -> &'static str {
        "register"
    }

    fn segment(&mut self, clients: &mut BTreeSet<u32>, _: &mut Calls) -> Next<Register> {
        Next::Done(clients.insert(self.client))
    }
}

fn registration(n: u32) {
    let server = Object::new(BTreeSet::new());
    let clients: Vec<_> = (0..n)
        .map(|client| server.start(Register { client }))
        .collect();
    for client in clients {
        assert!(client.get());
    }
    assert_eq!(server.read(BTreeSet::len), n as usize);
}
