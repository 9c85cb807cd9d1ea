//! distributed-lock(N): N clients increment a counter at one server while holding a lock
//! of another server (a benchmark of Albert et al., CAV 2017). Clients await the lock.

use crate::entry::{Entry, Parameter};
use actors::object::{Calls, Next, Object, Task};

pub(crate) const ENTRY: Entry = Entry {
    name: "distributed-lock",
    about: "N clients take a lock of one server and increment a counter of another server, with one call that reads and one that writes",
    parameters: &[Parameter::new("N", 2, 1..=1000)],
    body: |sizes| distributed_lock(sizes[0]),
    expect: include_str!("expect.toml"),
};

/// A free lock. A held lock has the number of its client instead.
const FREE: u32 = 0;

#[derive(Clone, PartialEq, Eq, Hash)]
struct Client {
    number: u32,
    lock: Object<u32>,
    counter: Object<u32>,
    phase: Phase,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Phase {
    Acquire,
    Load,
    Store(u32),
    Release,
}

impl Task for Client {
    type Touches = Object<u32>;
    type Output = ();

    fn method(&self) -> &'static str {
        match self.phase {
            Phase::Acquire => "acquire",
            Phase::Load => "load",
            Phase::Store(_) => "store",
            Phase::Release => "release",
        }
    }

    fn only_reads(&self) -> bool {
        self.phase == Phase::Load
    }

    fn is_ready(&self, state: &u32) -> bool {
        self.phase != Phase::Acquire || *state == FREE
    }

    fn segment(&mut self, state: &mut u32, _: &mut Calls) -> Next<Client> {
        match self.phase {
            Phase::Acquire => {
                *state = self.number;
                self.phase = Phase::Load;
                Next::At(self.counter.clone())
            }
            Phase::Load => {
                self.phase = Phase::Store(*state);
                Next::Suspend
            }
            Phase::Store(loaded) => {
                *state = loaded + 1;
                self.phase = Phase::Release;
                Next::At(self.lock.clone())
            }
            Phase::Release => {
                assert_eq!(*state, self.number, "the lock was taken away");
                *state = FREE;
                Next::Done(())
            }
        }
    }
}

fn distributed_lock(n: u32) {
    let (lock, counter) = (Object::new(FREE), Object::new(0));
    let client = |number| Client {
        number,
        lock: lock.clone(),
        counter: counter.clone(),
        phase: Phase::Acquire,
    };
    let clients: Vec<_> = (1..=n).map(|number| lock.start(client(number))).collect();
    for client in clients {
        client.get();
    }
    assert_eq!(counter.read(|count| *count), n);
}
