//! unregister-race(N): N processes use a name as a lock, held until it is unregistered. A process
//! that failed to register the name unregisters it, too, and so takes it from the holder. Repair:
//! only the holder unregisters the name.

use crate::entry::{Entry, Parameter};
use actors::{Actions, Behaviour, Delivery, Input, Next, Process, System};

pub(crate) const ENTRY: Entry = Entry {
    name: "unregister-race",
    about: "a process unregisters a name that it failed to register",
    parameters: &[Parameter::new("N", 2, 2..=20)],
    body: |sizes| candidates(sizes[0], false),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "unregister-race-fixed",
    about: "a process unregisters a name only if it has registered the name",
    parameters: &[Parameter::new("N", 2, 2..=20)],
    body: |sizes| candidates(sizes[0], true),
    expect: include_str!("fixed.toml"),
};

#[derive(Clone, PartialEq, Eq, Hash)]
struct Candidate {
    is_fixed: bool,
}

impl Behaviour for Candidate {
    type Message = ();

    fn react(&mut self, _: Input<()>, actions: &mut Actions<()>) -> Next {
        actions.perform(self.is_fixed, take_turn);
        Next::Stop
    }
}

fn take_turn(me: &Process<()>, is_fixed: bool) {
    let system = me.system();
    let is_mine = system.register("turn", &me.pid()).is_ok();
    if is_mine {
        let holder = system.whereis::<()>("turn");
        assert_eq!(holder, Some(me.pid()), "the name was taken away");
    }
    if is_mine || !is_fixed {
        system.unregister("turn");
    }
}

fn candidates(n: u32, is_fixed: bool) {
    let system = System::new(Delivery::MailboxOrder);
    for candidate in 0..n {
        system.spawn_machine(&format!("candidate {candidate}"), Candidate { is_fixed });
    }
}
