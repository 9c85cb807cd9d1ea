//! worker-pool(W, J, D): the client assumes that the n-th result belongs to the n-th job, but
//! workers finish in any order. Repair: the client receives the result of the n-th job.

use crate::entry::{Entry, Parameter, delivery};
use actors::{Delivery, Pid, Process, System};

pub(crate) const ENTRY: Entry = Entry {
    name: "worker-pool",
    about: "a client expects the results of several workers in the order of its jobs",
    parameters: &[
        Parameter::new("W", 2, 2..=20),
        Parameter::new("J", 2, 2..=20),
        Parameter::DELIVERY,
    ],
    body: |sizes| pool(sizes[0], sizes[1], delivery(sizes[2]), false),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "worker-pool-fixed",
    about: "a client receives the result of each job, whichever worker finishes first",
    parameters: &[
        Parameter::new("W", 2, 2..=20),
        Parameter::new("J", 2, 2..=20),
        Parameter::DELIVERY,
    ],
    body: |sizes| pool(sizes[0], sizes[1], delivery(sizes[2]), true),
    expect: include_str!("fixed.toml"),
};

/// A job and its result.
type Square = (u32, u32);

/// The message to the dispatcher: an idle worker.
type Idle = Pid<Option<u32>>;

fn pool(workers: u32, jobs: u32, delivery: Delivery, is_fixed: bool) {
    let system = System::new(delivery);
    let client = system.spawn("client", move |me: &Process<Square>| {
        for job in 0..jobs {
            let (_, square) = if is_fixed {
                me.receive_if(|&(of, _)| of == job)
            } else {
                me.receive()
            };
            assert_eq!(square, job * job, "the result of another job");
        }
    });
    let dispatcher = system.spawn("dispatcher", move |me: &Process<Idle>| {
        for job in 0..jobs {
            me.receive().send(Some(job));
        }
        for _ in 0..workers {
            me.receive().send(None);
        }
    });
    for worker in 0..workers {
        let (client, dispatcher) = (client.clone(), dispatcher.clone());
        system.spawn(
            &format!("worker {worker}"),
            move |me: &Process<Option<u32>>| {
                loop {
                    dispatcher.send(me.pid());
                    let Some(job) = me.receive() else { return };
                    client.send((job, job * job));
                }
            },
        );
    }
}
