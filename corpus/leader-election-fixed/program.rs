//! leader-election-fixed(N, D): numbers go round a ring, past processes with smaller ones
//! only. A process that gets its own leads (Chang, Roberts, Communications of the ACM, 1979).

use crate::entry::{Entry, Parameter, delivery};
use actors::{Delivery, Pid, Process, System, Table};

pub(crate) const ENTRY: Entry = Entry {
    name: "leader-election-fixed",
    about: "numbers go round a ring of processes, and the largest one leads",
    parameters: &[Parameter::new("N", 3, 2..=10), Parameter::DELIVERY],
    body: |sizes| elect(sizes[0], delivery(sizes[1])),
    expect: include_str!("expect.toml"),
};

#[derive(Clone, Debug)]
enum Message {
    Next(Pid<Message>),
    Candidate(u32),
    Leader(u32),
}

fn elect(n: u32, delivery: Delivery) {
    let system = System::new(delivery);
    let leader: Table<(), u32> = system.table("leader");
    let ring: Vec<Pid<Message>> = (0..n)
        .map(|own| {
            let leader = leader.clone();
            let name = format!("process {own}");
            system.spawn(&name, move |me: &Process<Message>| {
                take_part(me, own, &leader)
            })
        })
        .collect();
    for (own, process) in ring.iter().enumerate() {
        let next = &ring[(own + 1) % ring.len()];
        process.send(Message::Next(next.clone()));
    }
}

fn take_part(me: &Process<Message>, own: u32, leader: &Table<(), u32>) {
    let first = me.receive_if(|message| matches!(message, Message::Next(_)));
    let Message::Next(next) = first else {
        unreachable!("nothing else was asked for")
    };
    next.send(Message::Candidate(own));
    loop {
        match me.receive() {
            Message::Candidate(number) if number > own => next.send(Message::Candidate(number)),
            Message::Candidate(number) if number == own => {
                let is_first = leader.insert_new((), own);
                assert_eq!(is_first, Ok(true), "there are two leaders");
                next.send(Message::Leader(own));
            }
            Message::Candidate(_) | Message::Next(_) => {}
            Message::Leader(number) if number == own => return,
            Message::Leader(number) => return next.send(Message::Leader(number)),
        }
    }
}
