//! published-cuts: an outcome lost by cuts published as first optimisation of context-sensitive
//! DPOR (Albert et al., CAV 2017). They stop an execution before the race that leads to it.

use crate::entry::Entry;
use actors::object::{Calls, Next, Object, Task};
use mazurka::Goal;

pub(crate) const ENTRY: Entry = Entry {
    name: "published-cuts",
    about: "one task adds 1 to y and reads x, another writes x := 0 and y := 2, and y is 2 or 3 at the end",
    parameters: &[],
    body: |_| published_cuts(),
    expect: include_str!("expect.toml"),
};

/// A task that accesses one object after another.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Caller {
    accesses: &'static [Access],
    /// The object that it accesses after the first access.
    then: Object<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Access {
    Read,
    Add(u32),
    Write(u32),
}

impl Task for Caller {
    type Touches = Object<u32>;
    type Output = ();

    fn method(&self) -> &'static str {
        match self.accesses[0] {
            Access::Read => "read",
            Access::Add(_) => "add",
            Access::Write(_) => "write",
        }
    }

    fn only_reads(&self) -> bool {
        self.accesses[0] == Access::Read
    }

    fn segment(&mut self, number: &mut u32, _: &mut Calls) -> Next<Caller> {
        match self.accesses[0] {
            Access::Read => {}
            Access::Add(more) => *number += more,
            Access::Write(new) => *number = new,
        }
        self.accesses = &self.accesses[1..];
        match self.accesses {
            [] => Next::Done(()),
            _ => Next::At(self.then.clone()),
        }
    }
}

fn published_cuts() {
    let late = Goal::new("1 is added at last, so that y is 3");
    let (x, y) = (Object::new(0), Object::new(0));
    let adds = y.start(Caller {
        accesses: &[Access::Add(1), Access::Read],
        then: x.clone(),
    });
    let writes = x.start(Caller {
        accesses: &[Access::Write(0), Access::Write(2)],
        then: y.clone(),
    });
    adds.get();
    writes.get();
    match y.read(|y| *y) {
        3 => late.reach(),
        y => assert_eq!(y, 2),
    }
}
