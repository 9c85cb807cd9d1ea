//! name-race(N, D): a process that finds the name free registers it. Another may come in between.
//! (The race of `whereis` and `register` in Christakis and Sagonas, PADL 2010.)

use crate::entry::{Entry, Parameter, delivery};
use actors::{Actions, Behaviour, Delivery, Input, Next, Pid, Process, System};

pub(crate) const ENTRY: Entry = Entry {
    name: "name-race",
    about: "processes register a name after they have seen that it is free",
    parameters: &[Parameter::new("N", 2, 2..=20), Parameter::DELIVERY],
    body: |sizes| candidates(sizes[0], delivery(sizes[1])),
    expect: include_str!("expect.toml"),
};

/// Waits for the message that a process leads.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Witness;

impl Behaviour for Witness {
    type Message = ();

    fn react(&mut self, input: Input<()>, _: &mut Actions<()>) -> Next {
        match input {
            Input::Start => Next::Receive,
            Input::Message(()) | Input::Answer(()) | Input::Timeout => Next::Stop,
        }
    }
}

/// Keeps running, so that it keeps the name.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Candidate {
    leads: Pid<()>,
}

impl Behaviour for Candidate {
    type Message = bool;

    fn is_server(&self) -> bool {
        true
    }

    fn react(&mut self, input: Input<bool>, actions: &mut Actions<bool>) -> Next {
        match input {
            Input::Start => actions.ask((), |me, ()| is_leader(me)),
            Input::Answer(true) => actions.send(&self.leads, ()),
            Input::Answer(false) | Input::Message(_) | Input::Timeout => {}
        }
        Next::Receive
    }
}

/// Registers itself if the name is free. Returns whether it was.
fn is_leader(me: &Process<bool>) -> bool {
    let system = me.system();
    let is_free = system.whereis::<bool>("leader").is_none();
    if is_free {
        let taken = system.register("leader", &me.pid());
        taken.expect("nobody has the name");
    }
    is_free
}

fn candidates(n: u32, delivery: Delivery) {
    let system = System::new(delivery);
    let leads = system.spawn_machine("witness", Witness);
    for candidate in 0..n {
        let leads = leads.clone();
        system.spawn_machine(&format!("candidate {candidate}"), Candidate { leads });
    }
}
