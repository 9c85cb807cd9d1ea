//! three-tasks: the introductory example of context-sensitive DPOR (Albert et al., CAV 2017),
//! as tasks of an object. Two tasks write the same value, so their order does not matter.

use crate::entry::Entry;
use actors::object::{Calls, Next, Object, Task};

pub(crate) const ENTRY: Entry = Entry {
    name: "three-tasks",
    about: "two tasks write 5 to an object, one reads it",
    parameters: &[],
    body: |_| three_tasks(),
    expect: include_str!("expect.toml"),
};

#[derive(Clone, PartialEq, Eq, Hash)]
enum Access {
    Write,
    Read,
}

impl Task for Access {
    type Touches = Object<u32>;
    type Output = u32;

    fn method(&self) -> &'static str {
        match self {
            Access::Write => "write",
            Access::Read => "read",
        }
    }

    fn only_reads(&self) -> bool {
        *self == Access::Read
    }

    fn segment(&mut self, x: &mut u32, _: &mut Calls) -> Next<Access> {
        if *self == Access::Write {
            *x = 5;
        }
        Next::Done(*x)
    }
}

fn three_tasks() {
    let x = Object::new(0);
    let tasks = [Access::Write, Access::Write, Access::Read].map(|access| x.start(access));
    let [one, other, read] = tasks.map(|task| task.get());
    assert!(one == 5 && other == 5 && (read == 0 || read == 5));
}
