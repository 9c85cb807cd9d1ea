//! A program with different thread numbers, so that strategies choose threads in another order.

use crate::machine::Machine;
use explore::{
    EventId, Fingerprint, Footprint, Interrupt, Outcome, Pending, Performed, Program, Step,
    ThreadId,
};

/// A machine whose threads are numbered in another order.
#[derive(Clone, Debug)]
pub struct Renamed {
    machine: Machine,
    /// `original[t]` is the number that thread t has in the original program.
    original: Vec<usize>,
    pending: Vec<Pending>,
    next_edges: Vec<(ThreadId, EventId)>,
}

impl Renamed {
    /// Renumbers the threads. `original` is a permutation of the thread numbers.
    pub fn new(machine: Machine, original: Vec<usize>) -> Renamed {
        let mut renamed = Renamed {
            machine,
            original,
            pending: Vec::new(),
            next_edges: Vec::new(),
        };
        renamed.announce();
        renamed
    }

    fn announce(&mut self) {
        let pending = self.machine.pending();
        self.pending.clear();
        self.pending
            .extend(self.original.iter().map(|&number| pending[number]));
    }
}

impl Program for Renamed {
    fn reset(&mut self) {
        self.machine.reset();
        self.announce();
    }

    fn pending(&self) -> &[Pending] {
        &self.pending
    }

    fn step(&mut self, step: Step) -> Result<Performed<'_>, Interrupt> {
        let thread = ThreadId::from_index(self.original[step.thread.index()]);
        self.machine.step(Step { thread, ..step })?;
        self.announce();
        let performed = self.machine.performed();
        let here = |thread: ThreadId| {
            let name = self
                .original
                .iter()
                .position(|&number| number == thread.index());
            ThreadId::from_index(name.expect("every thread has a number here"))
        };
        let next_edges = performed.next_edges.iter();
        self.next_edges.clear();
        self.next_edges
            .extend(next_edges.map(|&(thread, event)| (here(thread), event)));
        Ok(Performed {
            next_edges: &self.next_edges,
            ..performed
        })
    }

    fn outcome(&self) -> Outcome {
        self.machine.outcome()
    }

    fn fingerprint(&self) -> Option<Fingerprint> {
        self.machine.fingerprint()
    }

    fn footprint(&self, thread: ThreadId) -> Option<Footprint> {
        let original = self.original[thread.index()];
        self.machine.footprint(ThreadId::from_index(original))
    }
}
