//! gossip(D): Ann sends to Cy, then to Ben, who therefore sends to Cy; then Ann sends to Cy again.
//! D is the delivery model; 0 is the strongest. The order in which Cy receives depends on it.

use crate::entry::{Entry, Parameter, delivery};
use actors::{Delivery, Process, System};

pub(crate) const ENTRY: Entry = Entry {
    name: "gossip",
    about: "a message, one that it causes, and a later one; D = 0 mailbox order, 1 causal, 2 FIFO, 3 unordered",
    parameters: &[Parameter::DELIVERY],
    body: |sizes| gossip(delivery(sizes[0])),
    expect: include_str!("expect.toml"),
};

fn gossip(delivery: Delivery) {
    let system = System::new(delivery);
    let cy = system.spawn("cy", |me: &Process<&str>| {
        for _ in 0..3 {
            me.receive();
        }
    });
    let also_cy = cy.clone();
    let ben = system.spawn("ben", move |me: &Process<()>| {
        me.receive();
        also_cy.send("effect");
    });
    system.spawn("ann", move |_: &Process<()>| {
        cy.send("cause");
        ben.send(());
        cy.send("more");
    });
}
