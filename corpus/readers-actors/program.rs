//! readers-actors(N): one process writes a key of a table, N read a key of their own and then that one
//! (Abdulla, Aronis, Jonsson, Sagonas, POPL 2014, as their tool runs it on Erlang).

use crate::entry::{Entry, Parameter};
use actors::{Delivery, Process, System, Table};

pub(crate) const ENTRY: Entry = Entry {
    name: "readers-actors",
    about: "a process writes x in a shared table; N others each read a key of their own, then x",
    parameters: &[Parameter::new("N", 8, 1..=1000)],
    body: |sizes| readers(sizes[0]),
    expect: include_str!("expect.toml"),
};

const X: u32 = 0;

fn readers(n: u32) {
    let system = System::new(Delivery::MailboxOrder);
    let table: Table<u32, u32> = system.table("table");
    let written = table.clone();
    system.spawn("writer", move |_: &Process<()>| {
        written.insert(X, 1).expect("nobody deletes the table");
    });
    for own in 1..=n {
        let table = table.clone();
        system.spawn(&format!("reader {own}"), move |_: &Process<()>| {
            for key in [own, X] {
                table.lookup(&key).expect("nobody deletes the table");
            }
        });
    }
}
