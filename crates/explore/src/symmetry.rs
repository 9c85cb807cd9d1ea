//! Symmetry reduction: threads that run the same code with the same arguments (*twins*) are
//! explored up to permutation.
//!
//! Exchanging twins turns an execution into another one. All executions that arise from each other
//! in this way form an *orbit*, and one execution of each orbit is enough. The *history* of a
//! thread has an entry for each of its events. The entry of a read is its object and the write that
//! it reads from. The entry of an event without an access is its kind and object. Both also contain
//! the alternative. The entry of a write differs from all other entries. As long as the history of
//! a thread equals that of its predecessor among the twins, its j-th event comes after the j-th
//! event of the predecessor, by a synchronization edge. If both events have no access or read the
//! same write, the thread may only choose the alternative of that event or an earlier one. The edge
//! and this restriction depend only on earlier events. Of each orbit, this leaves the executions in
//! which the twins are sorted by the first difference of their histories: by the order of the
//! conflicting events there, or by the alternatives. These executions are one trace.
//!
//! The algorithms need no change: they see the edge, and a thread seems to wait as long as it must
//! let its predecessor go first. The program decides which threads are twins ([`Program::twin`]).

use crate::execution::{
    Access, EventId, Execution, ObjectId, Op, OpKind, Performed, Step, ThreadId,
};
use crate::fingerprint::Fingerprint;
use crate::footprint::Footprint;
use crate::program::{Interrupt, Outcome, Pending, Program};

/// A program whose twins are explored up to permutation.
pub struct Symmetric<'p, P: ?Sized> {
    program: &'p mut P,
    symmetry: &'p mut Symmetry,
}

/// The histories of the threads in the current execution.
#[derive(Default, Debug)]
pub struct Symmetry {
    threads: Vec<Thread>,
    /// The last write of each object, indexed by object.
    writes: Vec<Option<EventId>>,
    /// The number of events.
    events: usize,
    /// The operations that the strategy sees.
    pending: Vec<Pending>,
    edges: Vec<EventId>,
    next_edges: Vec<(ThreadId, EventId)>,
}

#[derive(Clone, Default, Debug)]
struct Thread {
    is_known: bool,
    /// The previous twin, while the histories of both are equal.
    predecessor: Option<ThreadId>,
    /// The next twin, while the histories of both are equal.
    successor: Option<ThreadId>,
    history: Vec<Past>,
}

/// An event in the history of a thread.
#[derive(Clone, Copy, Debug)]
struct Past {
    entry: Entry,
    choice: u32,
    event: EventId,
}

/// The part of an event, apart from its choice, that is compared with the event of a twin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Entry {
    Read(ObjectId, Option<EventId>),
    Free(OpKind, ObjectId),
    /// Differs from the events of all other threads.
    Unique,
}

impl<'p, P: Program + ?Sized> Symmetric<'p, P> {
    /// Returns the program with its twins sorted. `symmetry` is kept from one execution to the
    /// next only to reuse its memory.
    pub fn new(program: &'p mut P, symmetry: &'p mut Symmetry) -> Symmetric<'p, P> {
        Symmetric { program, symmetry }
    }

    /// Finds the predecessors of threads that have started, and hides the operations of threads
    /// whose predecessors go first.
    fn announce(&mut self) {
        let pending = self.program.pending();
        let symmetry = &mut *self.symmetry;
        symmetry.threads.resize(pending.len(), Thread::default());
        for (index, next) in pending.iter().enumerate() {
            if !symmetry.threads[index].is_known && *next != Pending::NotStarted {
                let thread = ThreadId::from_index(index);
                symmetry.threads[index].is_known = true;
                symmetry.follow(self.program.twin(thread), thread);
            }
        }
        symmetry.hide(pending);
    }
}

impl Symmetry {
    /// Forgets the execution.
    fn clear(&mut self) {
        for thread in &mut self.threads {
            thread.is_known = false;
            (thread.predecessor, thread.successor) = (None, None);
            thread.history.clear();
        }
        self.writes.clear();
        self.events = 0;
    }

    fn follow(&mut self, predecessor: Option<ThreadId>, thread: ThreadId) {
        if let Some(predecessor) = predecessor {
            self.threads[thread.index()].predecessor = Some(predecessor);
            self.threads[predecessor.index()].successor = Some(thread);
        }
    }

    /// Sets what the strategy sees.
    fn hide(&mut self, pending: &[Pending]) {
        self.pending.clear();
        self.pending.extend_from_slice(pending);
        for (index, thread) in self.threads.iter().enumerate() {
            let Some(predecessor) = thread.predecessor else {
                continue;
            };
            let Pending::Enabled(mut request) = pending[index] else {
                continue;
            };
            if let Some(first) = self.before_next(thread) {
                if first.entry != Entry::Unique && first.entry == self.entry(request.op) {
                    request.alternatives = request.alternatives.min(first.choice + 1);
                    self.pending[index] = Pending::Enabled(request);
                }
            } else if let Pending::Enabled(_) | Pending::Waiting(_) = pending[predecessor.index()] {
                self.pending[index] = Pending::Waiting(request);
            }
        }
    }

    /// Returns the event of the predecessor that comes before the next event of the thread, if it
    /// has been performed.
    fn before_next(&self, thread: &Thread) -> Option<Past> {
        let predecessor = &self.threads[thread.predecessor?.index()];
        predecessor.history.get(thread.history.len()).copied()
    }

    /// Returns the synchronization edge to the next event of the thread, if it is known.
    fn edge_to(&self, thread: ThreadId) -> Option<EventId> {
        let first = self.before_next(self.threads.get(thread.index())?)?;
        Some(first.event)
    }

    /// Returns the entry of an event with this operation that would be next.
    fn entry(&self, op: Op) -> Entry {
        let last_write = || self.writes.get(op.object.index()).copied().flatten();
        match op.access {
            Access::None => Entry::Free(op.kind, op.object),
            Access::Read => Entry::Read(op.object, last_write()),
            Access::Write => Entry::Unique,
        }
    }

    /// Appends an event to the history of its thread.
    fn push(&mut self, Step { thread, choice, .. }: Step, op: Op) {
        let object = op.object.index();
        let entry = self.entry(op);
        let event = EventId::at(self.events);
        self.events += 1;
        if op.access == Access::Write {
            if self.writes.len() <= object {
                self.writes.resize(object + 1, None);
            }
            self.writes[object] = Some(event);
        }
        let own = &self.threads[thread.index()];
        let is_equal =
            |first: Past| entry != Entry::Unique && (first.entry, first.choice) == (entry, choice);
        if let Some(predecessor) = own.predecessor
            && !self.before_next(own).is_some_and(is_equal)
        {
            self.threads[thread.index()].predecessor = None;
            self.threads[predecessor.index()].successor = None;
        }
        let past = Past {
            entry,
            choice,
            event,
        };
        self.threads[thread.index()].history.push(past);
    }
}

impl<P: Program + ?Sized> Program for Symmetric<'_, P> {
    fn reset(&mut self) {
        self.program.reset();
        self.symmetry.clear();
        self.announce();
    }

    fn pending(&self) -> &[Pending] {
        &self.symmetry.pending
    }

    fn step(&mut self, step: Step) -> Result<Performed<'_>, Interrupt> {
        let thread = step.thread;
        let symmetry = &mut *self.symmetry;
        let performed = self.program.step(step)?;
        symmetry.edges.clear();
        symmetry.edges.extend_from_slice(performed.edges);
        symmetry.edges.extend(symmetry.edge_to(thread));
        symmetry.next_edges.clear();
        symmetry.next_edges.extend_from_slice(performed.next_edges);
        let Performed {
            op,
            before,
            after,
            is_fixed,
            ..
        } = performed;
        symmetry.push(step, op);
        // The edges that the event makes known: to the next event of the thread itself, and to that
        // of its successor if it is the successor's turn now.
        let own = symmetry.edge_to(thread).map(|event| (thread, event));
        let last = EventId::at(symmetry.events - 1);
        let successor = symmetry.threads[thread.index()].successor;
        let successor = successor.filter(|&successor| symmetry.edge_to(successor) == Some(last));
        let of_successor = successor.map(|successor| (successor, last));
        symmetry
            .next_edges
            .extend(own.into_iter().chain(of_successor));
        self.announce();
        Ok(Performed {
            op,
            before,
            after,
            edges: &self.symmetry.edges,
            next_edges: &self.symmetry.next_edges,
            preempts: false,
            is_fixed,
        })
    }

    fn repeat(&mut self, execution: &Execution, returns: bool) -> Result<(), Interrupt> {
        self.program.repeat(execution, returns)?;
        self.symmetry.clear();
        self.announce();
        for (_, event) in execution.events() {
            self.symmetry.push(event.step, event.op);
        }
        self.symmetry.hide(self.program.pending());
        Ok(())
    }

    fn outcome(&self) -> Outcome {
        self.program.outcome()
    }

    fn fingerprint(&self) -> Option<Fingerprint> {
        self.program.fingerprint()
    }

    fn footprint(&self, thread: ThreadId) -> Option<Footprint> {
        self.program.footprint(thread)
    }
}
