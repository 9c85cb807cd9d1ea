//! lastzero-actors(N): one process looks for the last zero of a table that N others fill from its left
//! neighbours (Abdulla, Aronis, Jonsson, Sagonas, POPL 2014, as their tool runs it on Erlang).

use crate::entry::{Entry, Parameter};
use actors::{Delivery, Process, System, Table};

pub(crate) const ENTRY: Entry = Entry {
    name: "lastzero-actors",
    about: "a process searches a shared table backwards for a zero; process j does t[j] = t[j-1] + 1",
    parameters: &[Parameter::new("N", 8, 1..=1000)],
    body: |sizes| lastzero(sizes[0]),
    expect: include_str!("expect.toml"),
};

fn lastzero(n: u32) {
    let system = System::new(Delivery::MailboxOrder);
    let table: Table<u32, u32> = system.table("table");
    for place in 0..=n {
        table.insert(place, 0).expect("nobody deletes the table");
    }
    let searched = table.clone();
    system.spawn("searcher", move |_: &Process<()>| {
        (0..=n).rev().find(|place| read(&searched, *place) == 0);
    });
    for place in 1..=n {
        let table = table.clone();
        system.spawn(&format!("filler {place}"), move |_: &Process<()>| {
            let left = read(&table, place - 1);
            table
                .insert(place, left + 1)
                .expect("nobody deletes the table");
        });
    }
}

fn read(table: &Table<u32, u32>, place: u32) -> u32 {
    let value = table.lookup(&place).expect("nobody deletes the table");
    value.expect("every place was filled with zero")
}
