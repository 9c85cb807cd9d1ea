//! The full state of a machine, for algorithms that compare states.

use super::{Machine, Status, Thread};
use crate::code::Local;
use crate::trace::{Record, orders};
use explore::{Fingerprint, Footprint, Pending, ThreadId};
use objects::Object;

/// The full state. Variables and mutexes are compared by state, other objects by their history.
/// States that compare as equal are equal, but equal states may compare as different.
#[derive(PartialEq, Eq, Hash)]
struct State {
    variables: Vec<u64>,
    /// For each mutex, the thread that holds it and the threads that wait.
    mutexes: Vec<Vec<ThreadId>>,
    /// The accesses of the other objects.
    orders: Vec<u64>,
    messages: Vec<Vec<u64>>,
    threads: Vec<ThreadState>,
}

#[derive(PartialEq, Eq, Hash)]
struct ThreadState {
    local: Local,
    status: Status,
    phase: usize,
    flag: bool,
    mutexes: Vec<usize>,
    dropped: Vec<usize>,
    pending: Pending,
}

impl Machine {
    /// Returns the full state.
    pub(super) fn state(&self) -> Fingerprint {
        let known = self.plan.variables + self.plan.mutexes * objects::Mutex::PARTS as usize;
        let is_history = |record: &&Record| record.op.object.index() >= known;
        let threads = self.threads.iter().zip(&self.pending);
        let mutexes = self.mutexes.iter();
        Fingerprint::of(State {
            variables: self.variables.clone(),
            mutexes: mutexes.map(|mutex| mutex.queue().collect()).collect(),
            orders: orders(self.records.iter().filter(is_history)),
            messages: self.messages.clone(),
            threads: threads
                .map(|(thread, &pending)| thread.state(pending))
                .collect(),
        })
    }
}

impl Machine {
    /// Returns what a step that accesses a variable depends on: the states of its thread and of the
    /// variable. Returns `None` for other steps. Whether these commute must be found out by running
    /// them.
    pub(super) fn footprint_of(&self, id: ThreadId) -> Option<Footprint> {
        let pending = self.pending[id.index()];
        let op = pending.enabled()?.op;
        let value = self.variables.get(op.object.index())?;
        op.is_access().then(|| Footprint {
            is_exposed: false,
            thread: Fingerprint::of(self.threads[id.index()].state(pending)),
            object: Fingerprint::of(*value),
        })
    }
}

impl Thread {
    fn state(&self, pending: Pending) -> ThreadState {
        ThreadState {
            local: self.local.clone(),
            status: self.status,
            phase: self.phase,
            flag: self.flag,
            mutexes: self.mutexes.iter().map(|&(mutex, _)| mutex).collect(),
            dropped: self.dropped.clone(),
            pending,
        }
    }
}
