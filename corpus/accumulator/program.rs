//! accumulator(N, D): N processes each send a number to one that adds them up. All are state
//! machines, so the search recognizes that different orders of messages lead to the same sum.

use crate::entry::{Entry, Parameter, delivery};
use actors::{Actions, Behaviour, Delivery, Input, Next, Pid, System};

pub(crate) const ENTRY: Entry = Entry {
    name: "accumulator",
    about: "N processes send a number each to one that adds them up; all are state machines",
    parameters: &[Parameter::new("N", 3, 1..=1000), Parameter::DELIVERY],
    body: |sizes| accumulator(sizes[0], delivery(sizes[1])),
    expect: include_str!("expect.toml"),
};

#[derive(Clone, PartialEq, Eq, Hash)]
struct Accumulator {
    sum: u32,
    missing: u32,
    expected: u32,
}

impl Behaviour for Accumulator {
    type Message = u32;

    fn react(&mut self, input: Input<u32>, _: &mut Actions<u32>) -> Next {
        if let Input::Message(number) = input {
            self.sum += number;
            self.missing -= 1;
        }
        if self.missing > 0 {
            return Next::Receive;
        }
        assert_eq!(self.sum, self.expected);
        Next::Stop
    }
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Sender {
    to: Pid<u32>,
    number: u32,
}

impl Behaviour for Sender {
    type Message = ();

    fn react(&mut self, _: Input<()>, actions: &mut Actions<()>) -> Next {
        actions.send(&self.to, self.number);
        Next::Stop
    }
}

fn accumulator(n: u32, delivery: Delivery) {
    let system = System::new(delivery);
    let accumulator = Accumulator {
        sum: 0,
        missing: n,
        expected: (1..=n).sum(),
    };
    let to = system.spawn_machine("accumulator", accumulator);
    for number in 1..=n {
        let to = to.clone();
        system.spawn_machine(&format!("sender {number}"), Sender { to, number });
    }
}
