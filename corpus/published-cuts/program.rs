//! published-cuts: the smallest program known for which the cuts that were published as the first optimisation of
//! context-sensitive DPOR (Albert et al., CAV 2017) lose a final state: 2 is left in y, or 1, and 1 only in an
//! execution that they cut.

use crate::entry::Entry;
use actors::object::{Calls, Next, Object, Task};

pub(crate) const ENTRY: Entry = Entry {
    name: "published-cuts",
    about: "T0 reads y and writes x := y, T1 writes y := 2 and reads x, T2 writes y := 2 and y := 1",
    parameters: &[],
    body: |_| published_cuts(),
    expect: include_str!("expect.toml"),
};

/// A task that does its accesses in order.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Caller {
    accesses: &'static [Access],
    x: Object<u32>,
    y: Object<u32>,
    /// What it read last.
    register: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Access {
    Read(Place),
    Write(Place, u32),
    /// Writes what was read last.
    WriteRead(Place),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    X,
    Y,
}

use Access::{Read, Write, WriteRead};
use Place::{X, Y};

const TASKS: [&[Access]; 3] = [
    &[Read(Y), WriteRead(X)],
    &[Write(Y, 2), Read(X)],
    &[Write(Y, 2), Write(Y, 1)],
];

impl Caller {
    fn place(&self) -> Object<u32> {
        match self.accesses[0] {
            Read(X) | Write(X, _) | WriteRead(X) => self.x.clone(),
            Read(Y) | Write(Y, _) | WriteRead(Y) => self.y.clone(),
        }
    }
}

impl Task for Caller {
    type State = u32;
    type Output = ();

    fn method(&self) -> &'static str {
        match self.accesses[0] {
            Read(_) => "read",
            Write(..) | WriteRead(_) => "write",
        }
    }

    fn only_reads(&self) -> bool {
        matches!(self.accesses[0], Read(_))
    }

    fn segment(&mut self, place: &mut u32, _: &mut Calls) -> Next<Caller> {
        match self.accesses[0] {
            Read(_) => self.register = *place,
            Write(_, number) => *place = number,
            WriteRead(_) => *place = self.register,
        }
        self.accesses = &self.accesses[1..];
        match self.accesses {
            [] => Next::Done(()),
            _ => Next::At(self.place()),
        }
    }
}

fn published_cuts() {
    let (x, y) = (Object::new(0), Object::new(0));
    for accesses in TASKS {
        let caller = Caller {
            accesses,
            x: x.clone(),
            y: y.clone(),
            register: 0,
        };
        caller.place().start(caller);
    }
}
