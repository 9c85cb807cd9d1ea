//! Events as expressions refer to them: by name, even before they are part of the execution.

use crate::execution::{
    Access, EventId, Execution, Op, Race, Request, ThreadId, ValueId, access_at,
};
use serde::{Deserialize, Serialize};

/// The name of an event: the same in every execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Name {
    pub(super) thread: ThreadId,
    /// From 1.
    pub(super) index: u32,
}

impl Name {
    /// A placeholder that names no event.
    pub(super) const NONE: Name = Name {
        thread: ThreadId::MAIN,
        index: 0,
    };
}

/// An event that was executed, or that could be executed next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<'a> {
    pub(super) name: Name,
    pub(super) choice: u32,
    pub(super) op: Op,
    pub(super) expects: Option<ValueId>,
    clock: &'a [u32],
}

impl<'a> Candidate<'a> {
    /// Returns an event of the execution.
    pub(super) fn of(execution: &'a Execution, id: EventId) -> Candidate<'a> {
        let event = execution.event(id);
        Candidate {
            name: Name {
                thread: event.thread(),
                index: event.index,
            },
            choice: event.step.choice,
            op: event.op,
            expects: event.expects,
            clock: execution.clock(id),
        }
    }

    /// Returns the second event of a race as a read before the first, with its clock there.
    pub(super) fn reversed(execution: &Execution, race: Race, clock: &'a [u32]) -> Candidate<'a> {
        let event = execution.event(race.second);
        Candidate {
            name: Name {
                thread: event.thread(),
                index: event.index,
            },
            choice: event.step.choice,
            op: Op {
                access: Access::Read,
                ..event.op
            },
            expects: event.expects,
            clock,
        }
    }

    /// Returns the next event of a thread, with the clock that it would have.
    pub(super) fn next(
        execution: &Execution,
        thread: ThreadId,
        request: &Request,
        clock: &'a [u32],
    ) -> Candidate<'a> {
        Candidate {
            name: Name {
                thread,
                index: execution.next_index(thread),
            },
            choice: 0,
            op: request.op,
            expects: request.expects,
            clock,
        }
    }

    /// Checks name → self and name ≠ self.
    pub(super) fn follows(&self, name: Name) -> bool {
        if name.thread == self.name.thread {
            return name.index < self.name.index;
        }
        self.clock
            .get(name.thread.index())
            .is_some_and(|&known| known >= name.index)
    }

    /// Returns the access of the event when its object holds `value`.
    pub(super) fn access_at(&self, value: ValueId) -> Access {
        access_at(self.op.access, self.expects, value)
    }
}
