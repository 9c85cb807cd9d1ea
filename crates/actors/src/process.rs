//! A process from within.

use crate::{Message, Pid};
use std::cell::Cell;

/// The process at hand: what its code can do.
pub struct Process<M> {
    pid: Pid<M>,
    /// Letters at smaller positions are known to have come in.
    pub(crate) known: Cell<usize>,
}

impl<M: Message> Process<M> {
    pub(crate) fn new(pid: Pid<M>) -> Process<M> {
        Process {
            pid,
            known: Cell::new(0),
        }
    }

    /// Its own process id.
    pub fn pid(&self) -> Pid<M> {
        self.pid.clone()
    }

    pub(crate) fn inbox(&self) -> &crate::inbox::Inbox<M> {
        &self.pid.inbox
    }

    /// Runs the code of the process.
    pub(crate) fn run(&self, body: impl FnOnce(&Process<M>)) {
        let _end = End(self);
        body(self);
    }
}

/// The end of a process, by whatever way.
struct End<'p, M: Message>(&'p Process<M>);

impl<M: Message> Drop for End<'_, M> {
    fn drop(&mut self) {
        self.0.inbox().close();
    }
}
