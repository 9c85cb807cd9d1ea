//! unregister-race-fixed(N): N processes use a name as a lock,
//! held until it is unregistered. Only the holder unregisters it.

use crate::entry::{Entry, Parameter};
use actors::{Actions, Behaviour, Delivery, Input, Next, Process, System};

pub(crate) const ENTRY: Entry = Entry {
    name: "unregister-race-fixed",
    about: "a process unregisters a name if it is its own",
    parameters: &[Parameter::new("N", 2, 2..=20)],
    body: |sizes| candidates(sizes[0]),
    expect: include_str!("expect.toml"),
};

#[derive(Clone, PartialEq, Eq, Hash)]
struct Candidate;

impl Behaviour for Candidate {
    type Message = ();

    fn react(&mut self, _: Input<()>, actions: &mut Actions<()>) -> Next {
        actions.perform((), |me, ()| take_turn(me));
        Next::Stop
    }
}

fn take_turn(me: &Process<()>) {
    let system = me.system();
    let is_mine = system.register("turn", &me.pid()).is_ok();
    if is_mine {
        let holder = system.whereis::<()>("turn");
        assert_eq!(holder, Some(me.pid()), "the name was taken away");
        system.unregister("turn");
    }
}

fn candidates(n: u32) {
    let system = System::new(Delivery::MailboxOrder);
    for candidate in 0..n {
        system.spawn_machine(&format!("candidate {candidate}"), Candidate);
    }
}
