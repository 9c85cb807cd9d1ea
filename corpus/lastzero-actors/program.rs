//! lastzero-actors(N): one process searches a table for its last zero, N others fill it from
//! the left (Abdulla, Aronis, Jonsson, Sagonas, POPL 2014, as their tool runs it on Erlang).

use crate::entry::{Entry, Parameter};
use actors::{Actions, Behaviour, Delivery, Input, Next, System, Table};

pub(crate) const ENTRY: Entry = Entry {
    name: "lastzero-actors",
    about: "a process searches a shared table backwards for a zero; process j does t[j] = t[j-1] + 1",
    parameters: &[Parameter::new("N", 8, 1..=1000)],
    body: |sizes| lastzero(sizes[0]),
    expect: include_str!("expect.toml"),
};

/// Searches from this place on, or fills this place.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Process {
    table: Table<u32, u32>,
    place: u32,
    searches: bool,
}

impl Behaviour for Process {
    type Message = ();

    fn react(&mut self, _: Input<()>, actions: &mut Actions<()>) -> Next {
        let on = (self.table.clone(), self.place);
        match self.searches {
            true => actions.perform(on, |_, (table, last)| {
                (0..=last).rev().find(|place| read(&table, *place) == 0);
            }),
            false => actions.perform(on, |_, (table, place)| {
                let left = read(&table, place - 1);
                let filled = table.insert(place, left + 1);
                filled.expect("nobody deletes the table");
            }),
        }
        Next::Stop
    }
}

fn lastzero(n: u32) {
    let system = System::new(Delivery::MailboxOrder);
    let table: Table<u32, u32> = system.table("table");
    for place in 0..=n {
        table.insert(place, 0).expect("nobody deletes the table");
    }
    let start = |name: &str, place, searches| {
        let table = table.clone();
        let process = Process {
            table,
            place,
            searches,
        };
        system.spawn_machine(name, process);
    };
    start("searcher", n, true);
    for place in 1..=n {
        start(&format!("filler {place}"), place, false);
    }
}

fn read(table: &Table<u32, u32>, place: u32) -> u32 {
    let value = table.lookup(&place).expect("nobody deletes the table");
    value.expect("every place was filled with zero")
}
