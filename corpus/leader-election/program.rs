//! leader-election(N, D): a process that hears of no larger one within a time limit leads.

use crate::entry::{Entry, Parameter, delivery};
use actors::{Delivery, Pid, Policy, Process, System, Table};
use std::time::Duration;

pub(crate) const ENTRY: Entry = Entry {
    name: "leader-election",
    about: "processes that hear of no larger one in time lead",
    parameters: &[Parameter::new("N", 2, 2..=10), Parameter::DELIVERY],
    body: |sizes| elect(sizes[0], delivery(sizes[1])),
    expect: include_str!("expect.toml"),
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
                let is_first = leader.insert_new((), own);
                assert_eq!(is_first, Ok(true), "there are two leaders");
            }
        });
        smaller.push(process);
    }
}
