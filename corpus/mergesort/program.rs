//! mergesort(N): sorts N numbers in parallel (a benchmark of Albert et al., CAV 2017).
//! A task halves its list and starts two tasks of new objects. They sort the halves
//! and merge them into the object of the first task, in an order that does not matter.

use crate::entry::{Entry, Parameter};
use actors::object::{Calls, Next, Object, Task};

pub(crate) const ENTRY: Entry = Entry {
    name: "mergesort",
    about: "N numbers are sorted by tasks that merge their halves into the object of their caller",
    parameters: &[Parameter::new("N", 4, 1..=1000)],
    body: |sizes| mergesort(sizes[0]),
    expect: include_str!("expect.toml"),
};

#[derive(Clone, PartialEq, Eq, Hash)]
struct Sort {
    object: Object<Vec<u32>>,
    /// The object into which the sorted list is merged.
    caller: Object<Vec<u32>>,
    phase: Phase,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Phase {
    Halve(Vec<u32>),
    Sorted,
    Merge(Vec<u32>),
}

impl Sort {
    /// Returns a task that sorts this list at a new object.
    fn of(list: &[u32], caller: &Object<Vec<u32>>) -> Sort {
        Sort {
            object: Object::new(Vec::new()),
            caller: caller.clone(),
            phase: Phase::Halve(list.to_vec()),
        }
    }

    fn halve(&mut self, list: Vec<u32>, calls: &mut Calls) -> Next<Sort> {
        if list.len() == 1 {
            return self.bring(list);
        }
        let (left, right) = list.split_at(list.len() / 2);
        let halves = [left, right].map(|half| {
            let sort = Sort::of(half, &self.object);
            calls.start(&sort.object.clone(), sort)
        });
        self.phase = Phase::Sorted;
        Next::after_all(&halves, |_, _| ())
    }

    fn bring(&mut self, list: Vec<u32>) -> Next<Sort> {
        self.phase = Phase::Merge(list);
        Next::At(self.caller.clone())
    }
}

impl Task for Sort {
    type Touches = Object<Vec<u32>>;
    type Output = ();

    fn method(&self) -> &'static str {
        match self.phase {
            Phase::Halve(_) => "halve",
            Phase::Sorted => "sorted",
            Phase::Merge(_) => "merge",
        }
    }

    fn segment(&mut self, own: &mut Vec<u32>, calls: &mut Calls) -> Next<Sort> {
        match self.phase.clone() {
            Phase::Halve(list) => self.halve(list, calls),
            Phase::Sorted => self.bring(own.clone()),
            Phase::Merge(list) => {
                *own = merged(own, &list);
                Next::Done(())
            }
        }
    }
}

fn merged(mut one: &[u32], mut other: &[u32]) -> Vec<u32> {
    let mut merged = Vec::new();
    while let ([first, rest @ ..], [second, others @ ..]) = (one, other) {
        if first <= second {
            merged.push(*first);
            one = rest;
        } else {
            merged.push(*second);
            other = others;
        }
    }
    [&merged[..], one, other].concat()
}

fn mergesort(n: u32) {
    let result = Object::new(Vec::new());
    let list: Vec<u32> = (0..n).rev().collect();
    let sort = Sort::of(&list, &result);
    sort.object.clone().start(sort).get();
    assert!(result.read(Vec::clone).into_iter().eq(0..n));
}
