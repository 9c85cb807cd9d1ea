//! leader-election(N, D): a process leads if it receives no message of a larger one within a time
//! limit. The message may arrive later. The repair: numbers pass round a ring, and a process only
//! forwards larger ones than its own. A process that receives its own number leads (Chang, Roberts,
//! Communications of the ACM, 1979).

use crate::entry::{Entry, Parameter, delivery};
use actors::{Delivery, Pid, Policy, Process, System, Table};
use std::time::Duration;

pub(crate) const ENTRY: Entry = Entry {
    name: "leader-election",
    about: "a process leads if it receives no message of a larger one in time",
    parameters: &[Parameter::new("N", 2, 2..=10), Parameter::DELIVERY],
    body: |sizes| elect(sizes[0], delivery(sizes[1])),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "leader-election-fixed",
    about: "numbers pass round a ring of processes, and the largest one leads",
    parameters: &[Parameter::new("N", 3, 2..=10), Parameter::DELIVERY],
    body: |sizes| elect_in_ring(sizes[0], delivery(sizes[1])),
    expect: include_str!("fixed.toml"),
};

fn elect(n: u32, delivery: Delivery) {
    let system = System::new(delivery).unhandled(Policy::Allow);
    let leader: Table<(), u32> = system.table("leader");
    let mut smaller: Vec<Pid<u32>> = Vec::new();
    for own in 0..n {
        let (others, leader) = (smaller.clone(), leader.clone());
        let process = system.spawn(&format!("process {own}"), move |me: &Process<u32>| {
            for other in others {
                other.send(own);
            }
            if me.receive_within(Duration::from_secs(1)).is_none() {
                lead(own, &leader);
            }
        });
        smaller.push(process);
    }
}

/// Enters the process as the leader. Checks that there is no other.
fn lead(own: u32, leader: &Table<(), u32>) {
    let is_first = leader.insert_new((), own);
    assert_eq!(is_first, Ok(true), "there are two leaders");
}

/// A message to a process of the ring.
#[derive(Clone, Debug)]
enum Message {
    Next(Pid<Message>),
    Candidate(u32),
    Leader(u32),
}

fn elect_in_ring(n: u32, delivery: Delivery) {
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
        unreachable!("only `Next` is accepted")
    };
    next.send(Message::Candidate(own));
    loop {
        match me.receive() {
            Message::Candidate(number) if number > own => next.send(Message::Candidate(number)),
            Message::Candidate(number) if number == own => {
                lead(own, leader);
                next.send(Message::Leader(own));
            }
            Message::Candidate(_) | Message::Next(_) => {}
            Message::Leader(number) if number == own => return,
            Message::Leader(number) => return next.send(Message::Leader(number)),
        }
    }
}
