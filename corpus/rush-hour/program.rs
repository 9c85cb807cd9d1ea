//! rush-hour(N): two cars have N steps to go each. The task of a position enters it into a
//! shared table. If it is the first there, it starts tasks for the positions one step further.

use crate::entry::{Entry, Parameter};
use actors::object::{Calls, Next, Object, Task};

pub(crate) const ENTRY: Entry = Entry {
    name: "rush-hour",
    about: "the positions of two cars with N steps each are searched by tasks that share a table",
    parameters: &[Parameter::new("N", 2, 1..=30)],
    body: |sizes| rush_hour(sizes[0]),
    expect: include_str!("expect.toml"),
};

/// Number of steps that each car has gone.
type Position = [u32; 2];

/// For each position, whether it was reached.
type Table = Vec<Vec<Object<bool>>>;

#[derive(Clone, PartialEq, Eq, Hash)]
struct Search {
    position: Position,
    table: Table,
    is_new: bool,
    /// Number of positions that this task and the tasks it started were the first to reach.
    found: u32,
}

impl Search {
    fn entry(&self) -> Object<bool> {
        let [first, second] = self.position;
        self.table[first as usize][second as usize].clone()
    }

    fn steps(&self) -> impl Iterator<Item = Search> {
        let [first, second] = self.position;
        let steps = [[first + 1, second], [first, second + 1]].into_iter();
        let last = self.table.len() as u32 - 1;
        let possible = steps.filter(move |position| position.iter().all(|&steps| steps <= last));
        possible.map(|position| Search {
            position,
            ..self.clone()
        })
    }
}

impl Task for Search {
    type Touches = Object<bool>;
    type Output = u32;

    fn method(&self) -> &'static str {
        "search"
    }

    fn segment(&mut self, was_met: &mut bool, calls: &mut Calls) -> Next<Search> {
        if self.is_new {
            return Next::Done(self.found);
        }
        if std::mem::replace(was_met, true) {
            return Next::Done(0);
        }
        let steps = self
            .steps()
            .map(|search| calls.start(&search.entry(), search));
        let steps: Vec<_> = steps.collect();
        if steps.is_empty() {
            return Next::Done(1);
        }
        self.is_new = true;
        Next::after_all(&steps, |search: &mut Search, found| {
            search.found = 1 + found.iter().sum::<u32>()
        })
    }

    fn only_reads(&self) -> bool {
        self.is_new
    }
}

fn rush_hour(n: u32) {
    let lane = || (0..=n).map(|_| Object::new(false)).collect();
    let search = Search {
        position: [0, 0],
        table: (0..=n).map(|_| lane()).collect(),
        is_new: false,
        found: 0,
    };
    assert_eq!(search.entry().start(search).get(), (n + 1) * (n + 1));
}
