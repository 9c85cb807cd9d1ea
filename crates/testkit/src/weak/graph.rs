//! A complete execution graph, for comparison.

use crate::code::{Code, Local, Stop};
use crate::program::{Program, Sort};
use explore::{Access, EventId, ObjectId, OpKind, Point, Strategy};

/// A graph: the operations with the values that they read and write, the reads-from relation, and
/// the coherence order.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Graph {
    /// The operations of each thread.
    pub threads: Vec<Vec<Done>>,
    /// For each variable, the writes in coherence order as (thread, number in the thread).
    pub coherence: Vec<Vec<(usize, usize)>>,
}

/// An operation of a graph.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Done {
    /// The variable, for an access.
    pub variable: Option<usize>,
    /// The value that was read.
    pub read: Option<u64>,
    /// The value that was written.
    pub written: Option<u64>,
    /// The operation that wrote the value that was read; `None` for the initial value.
    pub source: Option<(usize, usize)>,
    /// The alternative of a choice.
    pub choice: u32,
}

impl Graph {
    /// Returns the graph of a search's current execution.
    pub(super) fn of(strategy: &dyn Strategy, variables: usize) -> Graph {
        let execution = strategy.execution();
        let point = |event: EventId| {
            let Point { thread, index } = execution.event(event).point();
            (thread.index(), index as usize - 1)
        };
        let mut threads: Vec<Vec<Done>> = Vec::new();
        for (_, event) in execution.events() {
            let thread = event.thread().index();
            if threads.len() <= thread {
                threads.resize(thread + 1, Vec::new());
            }
            let is_access = event.op.access != Access::None;
            let reads = is_access && event.op.kind != OpKind::Store;
            let writes = event.op.access == Access::Write;
            threads[thread].push(Done {
                variable: is_access.then(|| event.op.object.index()),
                read: reads.then_some(event.before.0),
                written: writes.then_some(event.after.0),
                source: event.step.reads_from.event().filter(|_| reads).map(point),
                choice: event.step.choice,
            });
        }
        let coherence = (0..variables).map(|variable| {
            let writes = strategy.coherence(ObjectId(variable as u32));
            writes.into_iter().map(point).collect()
        });
        Graph {
            threads,
            coherence: coherence.collect(),
        }
    }

    /// Returns the final value of each variable, and the final registers of each thread.
    pub fn end(&self, program: &Program) -> (Vec<u64>, Vec<Vec<u64>>) {
        let value = |variable: usize| {
            let last = self
                .coherence
                .get(variable)
                .and_then(|writes| writes.last());
            last.and_then(|&(thread, number)| self.threads[thread][number].written)
        };
        let variables = 0..program.count(Sort::Variable);
        let values = variables.map(|variable| value(variable).unwrap_or(0));
        let bodies = program.threads.iter().enumerate();
        let registers = bodies.map(|(thread, body)| {
            let code = Code::new(body);
            let mut local = Local::default();
            let mut done = self.threads.get(thread).into_iter().flatten();
            while let (Stop::At(action), Some(done)) = (code.run(&mut local), done.next()) {
                local.store(action, done.read.unwrap_or(done.choice.into()));
                local.next += 1;
            }
            local.registers.to_vec()
        });
        (values.collect(), registers.collect())
    }
}
