//! readers-actors(N): one process writes key x of a table; N others each read their own key, then x
//! (Abdulla, Aronis, Jonsson, Sagonas, POPL 2014, as their tool runs it on Erlang).

use crate::entry::{Entry, Parameter};
use actors::{Actions, Behaviour, Delivery, Input, Next, System, Table};

pub(crate) const ENTRY: Entry = Entry {
    name: "readers-actors",
    about: "a process writes x in a shared table; N others each read a key of their own, then x",
    parameters: &[Parameter::new("N", 8, 1..=1000)],
    body: |sizes| readers(sizes[0]),
    expect: include_str!("expect.toml"),
};

const X: u32 = 0;

/// Writes x, or reads its own key and then x.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Process {
    table: Table<u32, u32>,
    own: Option<u32>,
}

impl Behaviour for Process {
    type Message = ();

    fn react(&mut self, _: Input<()>, actions: &mut Actions<()>) -> Next {
        let table = self.table.clone();
        match self.own {
            None => actions.perform(table, |_, table| {
                table.insert(X, 1).expect("nobody deletes the table");
            }),
            Some(own) => actions.perform((table, own), |_, (table, own)| {
                for key in [own, X] {
                    table.lookup(&key).expect("nobody deletes the table");
                }
            }),
        }
        Next::Stop
    }
}

fn readers(n: u32) {
    let system = System::new(Delivery::MailboxOrder);
    let table: Table<u32, u32> = system.table("table");
    let start = |name: &str, own| {
        let table = table.clone();
        system.spawn_machine(name, Process { table, own });
    };
    start("writer", None);
    for own in 1..=n {
        start(&format!("reader {own}"), Some(own));
    }
}
