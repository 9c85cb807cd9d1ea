//! quicksort(N): sorts N numbers in parallel (a benchmark of Albert et al., CAV 2017). A task
//! splits its list at the first number and starts two tasks of new objects. They sort the
//! parts and bring them to the object of the first task, in an order that does not matter.

use crate::entry::{Entry, Parameter};
use actors::object::{Calls, Future, Next, Object, Task};

pub(crate) const ENTRY: Entry = Entry {
    name: "quicksort",
    about: "N numbers are sorted by tasks that bring their parts to the object of their caller",
    parameters: &[Parameter::new("N", 7, 1..=1000)],
    body: |sizes| quicksort(sizes[0]),
    expect: include_str!("expect.toml"),
};

/// The state of an object: the sorted parts.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
struct Parts {
    smaller: Vec<u32>,
    larger: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Side {
    Smaller,
    Larger,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Sort {
    object: Object<Parts>,
    /// The object and side to which the sorted list is brought.
    caller: Option<(Object<Parts>, Side)>,
    phase: Phase,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Phase {
    Split(Vec<u32>),
    Join(u32),
    Bring(Vec<u32>),
}

impl Sort {
    /// Returns a task that sorts this list at a new object.
    fn of(list: Vec<u32>, caller: Option<(Object<Parts>, Side)>) -> Sort {
        Sort {
            object: Object::new(Parts::default()),
            caller,
            phase: Phase::Split(list),
        }
    }

    fn split(&mut self, list: &[u32], calls: &mut Calls) -> Next<Sort> {
        let pivot = list[0];
        let smaller = list.iter().copied().filter(|&n| n < pivot).collect();
        let larger = list.iter().copied().filter(|&n| n > pivot).collect();
        let mut sorted: Vec<Future<Vec<u32>>> = Vec::new();
        for (part, side) in [(smaller, Side::Smaller), (larger, Side::Larger)] {
            let part: Vec<u32> = part;
            if !part.is_empty() {
                let sort = Sort::of(part, Some((self.object.clone(), side)));
                sorted.push(calls.start(&sort.object.clone(), sort));
            }
        }
        self.phase = Phase::Join(pivot);
        Next::after_all(&sorted, |_, _| ())
    }

    fn bring(&mut self, list: Vec<u32>) -> Next<Sort> {
        let Some((caller, _)) = &self.caller else {
            return Next::Done(list);
        };
        self.phase = Phase::Bring(list);
        Next::At(caller.clone())
    }
}

impl Task for Sort {
    type Touches = Object<Parts>;
    /// The sorted list, if there is no caller to bring it to.
    type Output = Vec<u32>;

    fn method(&self) -> &'static str {
        match self.phase {
            Phase::Split(_) => "split",
            Phase::Join(_) => "join",
            Phase::Bring(_) => "bring",
        }
    }

    fn segment(&mut self, parts: &mut Parts, calls: &mut Calls) -> Next<Sort> {
        match self.phase.clone() {
            Phase::Split(list) => self.split(&list, calls),
            Phase::Join(pivot) => {
                let Parts { smaller, larger } = parts;
                self.bring([&smaller[..], &[pivot], larger].concat())
            }
            Phase::Bring(list) => {
                match self.caller {
                    Some((_, Side::Smaller)) => parts.smaller = list,
                    Some((_, Side::Larger)) | None => parts.larger = list,
                }
                Next::Done(Vec::new())
            }
        }
    }
}

/// Returns the numbers of a range in an order in which the first number of each part halves it.
fn balanced(from: u32, to: u32) -> Vec<u32> {
    if from == to {
        return Vec::new();
    }
    let middle = from.midpoint(to);
    [
        vec![middle],
        balanced(from, middle),
        balanced(middle + 1, to),
    ]
    .concat()
}

fn quicksort(n: u32) {
    let sort = Sort::of(balanced(0, n), None);
    let sorted = sort.object.clone().start(sort);
    assert!(sorted.get().into_iter().eq(0..n));
}
