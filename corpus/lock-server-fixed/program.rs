//! lock-server-fixed(N, D): the lock stays held when it is passed on.

use crate::entry::{Entry, Parameter, delivery};
use actors::{Delivery, Pid, Process, System, Table};
use std::collections::VecDeque;

pub(crate) const ENTRY: Entry = Entry {
    name: "lock-server-fixed",
    about: "a lock server hands the lock on to who waits longest",
    parameters: &[Parameter::new("N", 3, 2..=20), Parameter::DELIVERY],
    body: |sizes| clients(sizes[0], delivery(sizes[1])),
    expect: include_str!("expect.toml"),
};

#[derive(Clone, Debug)]
enum Request {
    Acquire(Pid<Granted>),
    Release,
}

#[derive(Clone, Debug)]
struct Granted;

fn clients(n: u32, delivery: Delivery) {
    let system = System::new(delivery);
    let inside: Table<(), u32> = system.table("inside");
    inside.insert((), 0).expect("nobody deletes the table");
    let server = system.spawn_server("server", serve);
    for client in 0..n {
        let (server, inside) = (server.clone(), inside.clone());
        system.spawn(&format!("client {client}"), move |me: &Process<Granted>| {
            server.send(Request::Acquire(me.pid()));
            me.receive();
            let others = inside.update_counter(&(), 1);
            assert_eq!(others, Ok(Some(1)), "two clients have the lock");
            inside.insert((), 0).expect("nobody deletes the table");
            server.send(Request::Release);
        });
    }
}

fn serve(me: &Process<Request>) {
    let mut held = false;
    let mut waiting = VecDeque::new();
    loop {
        match me.receive() {
            Request::Acquire(client) if held => waiting.push_back(client),
            Request::Acquire(client) => {
                held = true;
                client.send(Granted);
            }
            Request::Release => release(&mut held, &mut waiting),
        }
    }
}

fn release(held: &mut bool, waiting: &mut VecDeque<Pid<Granted>>) {
    *held = match waiting.pop_front() {
        Some(next) => {
            next.send(Granted);
            true
        }
        None => false,
    };
}
