//! name-race-fixed(N, D): who comes second to the name is content with that.
//! (The race of `whereis` and `register` in Christakis and Sagonas, PADL 2010.)

use crate::entry::{Entry, Parameter, delivery};
use actors::{Delivery, Process, System};

pub(crate) const ENTRY: Entry = Entry {
    name: "name-race-fixed",
    about: "processes register a name, and the second one follows",
    parameters: &[Parameter::new("N", 2, 2..=20), Parameter::DELIVERY],
    body: |sizes| candidates(sizes[0], delivery(sizes[1])),
    expect: include_str!("expect.toml"),
};

fn candidates(n: u32, delivery: Delivery) {
    let system = System::new(delivery);
    let leads = system.spawn("witness", |me: &Process<()>| {
        me.receive();
    });
    for candidate in 0..n {
        let leads = leads.clone();
        // It keeps running, so that the name stays with it.
        system.spawn_server(&format!("candidate {candidate}"), move |me: &Process<()>| {
            let system = me.system();
            let is_free = system.whereis::<()>("leader").is_none();
            if is_free && system.register("leader", &me.pid()).is_ok() {
                leads.send(());
            }
            me.receive();
        });
    }
}
