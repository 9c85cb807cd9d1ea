//! fibonacci(N): the N-th Fibonacci number (Albert et al., CAV 2017). A task starts two tasks of
//! new objects. They add their numbers to the object of the task that started them, in any order.

use crate::entry::{Entry, Parameter};
use actors::object::{Calls, Next, Object, Task};

pub(crate) const ENTRY: Entry = Entry {
    name: "fibonacci",
    about: "the N-th Fibonacci number by tasks that add their numbers to the object of their caller",
    parameters: &[Parameter::new("N", 4, 0..=20)],
    body: |sizes| fibonacci(sizes[0]),
    expect: include_str!("expect.toml"),
};

#[derive(Clone, PartialEq, Eq, Hash)]
struct Compute {
    object: Object<u32>,
    /// The object to which the number is added.
    caller: Object<u32>,
    phase: Phase,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Phase {
    Begin(u32),
    Computed,
    Add(u32),
}

impl Compute {
    /// Returns a task that computes the n-th number at a new object.
    fn of(n: u32, caller: &Object<u32>) -> Compute {
        Compute {
            object: Object::new(0),
            caller: caller.clone(),
            phase: Phase::Begin(n),
        }
    }

    fn begin(&mut self, n: u32, calls: &mut Calls) -> Next<Compute> {
        if n < 2 {
            return self.bring(n);
        }
        let smaller = [n - 1, n - 2].map(|n| {
            let compute = Compute::of(n, &self.object);
            calls.start(&compute.object.clone(), compute)
        });
        self.phase = Phase::Computed;
        Next::after_all(&smaller, |_, _| ())
    }

    fn bring(&mut self, number: u32) -> Next<Compute> {
        self.phase = Phase::Add(number);
        Next::At(self.caller.clone())
    }
}

impl Task for Compute {
    type Touches = Object<u32>;
    type Output = ();

    fn method(&self) -> &'static str {
        match self.phase {
            Phase::Begin(_) => "begin",
            Phase::Computed => "computed",
            Phase::Add(_) => "add",
        }
    }

    fn segment(&mut self, sum: &mut u32, calls: &mut Calls) -> Next<Compute> {
        match self.phase {
            Phase::Begin(n) => self.begin(n, calls),
            Phase::Computed => self.bring(*sum),
            Phase::Add(number) => {
                *sum += number;
                Next::Done(())
            }
        }
    }
}

fn fibonacci(n: u32) {
    let result = Object::new(0);
    let compute = Compute::of(n, &result);
    compute.object.clone().start(compute).get();
    let numbers = (0..n).fold((0, 1), |(one, next), _| (next, one + next));
    assert_eq!(result.read(|sum| *sum), numbers.0);
}
