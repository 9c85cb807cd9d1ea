//! lock-server(N, D): on a release, the server passes the lock on but forgets that it is held. A
//! process that requests it then gets it, too. The repair: the lock stays held when passed on.

use crate::entry::{Entry, Parameter, delivery};
use actors::{Delivery, Pid, Process, System, Table};
use std::collections::VecDeque;

pub(crate) const ENTRY: Entry = Entry {
    name: "lock-server",
    about: "a lock server forgets that the lock is held when it passes the lock on",
    parameters: PARAMETERS,
    body: |sizes| clients(sizes[0], delivery(sizes[1]), false),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "lock-server-fixed",
    about: "a lock server passes the lock on to the client that has waited longest",
    parameters: PARAMETERS,
    body: |sizes| clients(sizes[0], delivery(sizes[1]), true),
    expect: include_str!("fixed.toml"),
};

const PARAMETERS: &[Parameter] = &[Parameter::new("N", 3, 2..=20), Parameter::DELIVERY];

#[derive(Clone, Debug)]
enum Request {
    Acquire(Pid<Granted>),
    Release,
}

#[derive(Clone, Debug)]
struct Granted;

fn clients(n: u32, delivery: Delivery, is_fixed: bool) {
    let system = System::new(delivery);
    let inside: Table<(), u32> = system.table("inside");
    inside.insert((), 0).expect("the table is never deleted");
    let server = system.spawn_server("server", move |me| serve(me, is_fixed));
    for client in 0..n {
        let (server, inside) = (server.clone(), inside.clone());
        system.spawn(&format!("client {client}"), move |me: &Process<Granted>| {
            server.send(Request::Acquire(me.pid()));
            me.receive();
            let others = inside.update_counter(&(), 1);
            assert_eq!(others, Ok(Some(1)), "two clients have the lock");
            inside.insert((), 0).expect("the table is never deleted");
            server.send(Request::Release);
        });
    }
}

fn serve(me: &Process<Request>, is_fixed: bool) {
    let mut held = false;
    let mut waiting = VecDeque::new();
    loop {
        match me.receive() {
            Request::Acquire(client) if held => waiting.push_back(client),
            Request::Acquire(client) => {
                held = true;
                client.send(Granted);
            }
            Request::Release => held = pass_on(&mut waiting, is_fixed),
        }
    }
}

/// Passes the lock on, if a client waits for it. Returns whether the server considers it held.
fn pass_on(waiting: &mut VecDeque<Pid<Granted>>, is_fixed: bool) -> bool {
    let Some(next) = waiting.pop_front() else {
        return false;
    };
    next.send(Granted);
    is_fixed // The bug: `next` holds the lock.
}
