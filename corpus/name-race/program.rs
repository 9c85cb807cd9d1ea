//! name-race(N, D): a process that finds the name free registers it. Another may come in between.
//! The repair: a process whose registration fails does not lead. (The race of `whereis` and
//! `register` in Christakis and Sagonas, PADL 2010.)

use crate::entry::{Entry, Parameter, delivery};
use actors::{Actions, Behaviour, Delivery, Input, Next, Pid, Process, System};

pub(crate) const ENTRY: Entry = Entry {
    name: "name-race",
    about: "processes check that a name is free and then register it",
    parameters: PARAMETERS,
    body: |sizes| candidates(sizes[0], delivery(sizes[1]), false),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "name-race-fixed",
    about: "processes register a name, and a process that is too late does not lead",
    parameters: PARAMETERS,
    body: |sizes| candidates(sizes[0], delivery(sizes[1]), true),
    expect: include_str!("fixed.toml"),
};

const PARAMETERS: &[Parameter] = &[Parameter::new("N", 2, 2..=20), Parameter::DELIVERY];

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
    is_fixed: bool,
}

impl Behaviour for Candidate {
    type Message = bool;

    fn is_server(&self) -> bool {
        true
    }

    fn react(&mut self, input: Input<bool>, actions: &mut Actions<bool>) -> Next {
        match input {
            Input::Start => actions.ask(self.is_fixed, is_leader),
            Input::Answer(true) => actions.send(&self.leads, ()),
            Input::Answer(false) | Input::Message(_) | Input::Timeout => {}
        }
        Next::Receive
    }
}

/// Registers itself if the name is free. Returns whether it leads.
fn is_leader(me: &Process<bool>, is_fixed: bool) -> bool {
    let system = me.system();
    if system.whereis::<bool>("leader").is_some() {
        return false;
    }
    let is_registered = system.register("leader", &me.pid()).is_ok();
    assert!(
        is_fixed || is_registered,
        "another process has registered the name"
    );
    is_registered
}

fn candidates(n: u32, delivery: Delivery, is_fixed: bool) {
    let system = System::new(delivery);
    let leads = system.spawn_machine("witness", Witness);
    for candidate in 0..n {
        let leads = leads.clone();
        let machine = Candidate { leads, is_fixed };
        system.spawn_machine(&format!("candidate {candidate}"), machine);
    }
}
