//! The objects on which threads race.
//!
//! The paper leaves the order of threads open. Operations with no known race are scheduled first.
//! Their events then belong to the prefix that many executions share, because executions differ
//! only from the first event of a race on.

use crate::execution::{Execution, ObjectId, Request, ThreadId};
use crate::program::Pending;
use serde::{Deserialize, Serialize};

/// The objects with known races.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Contended {
    /// Indexed by object: whether a race was found.
    objects: Vec<bool>,
}

impl Contended {
    /// Records a race for the object.
    #[inline]
    pub(super) fn insert(&mut self, object: ObjectId) {
        if !self.contains(object) {
            self.add(object);
        }
    }

    #[cold]
    fn add(&mut self, object: ObjectId) {
        if self.objects.len() <= object.index() {
            self.objects.resize(object.index() + 1, false);
        }
        self.objects[object.index()] = true;
    }

    /// Returns the first thread whose operation has no known race and no alternatives.
    pub(super) fn first_spared(&self, pending: &[Pending]) -> Option<ThreadId> {
        let is_spared = |pending: &Pending| {
            pending
                .enabled()
                .is_some_and(|request| self.spares(request))
        };
        pending.iter().position(is_spared).map(ThreadId::from_index)
    }

    /// Returns the thread of the last event on an object with a known race.
    pub(super) fn last_thread(&self, execution: &Execution) -> Option<ThreadId> {
        let mut events = execution.events().rev();
        let last = events.find(|(_, event)| self.contains(event.op.object));
        last.map(|(_, event)| event.thread())
    }

    /// Checks whether no race is known for the object of the operation. The result is false for an
    /// operation with alternatives, because executions also differ from this operation on.
    #[inline]
    pub(super) fn spares(&self, request: &Request) -> bool {
        request.alternatives == 1 && !self.contains(request.op.object)
    }

    #[inline]
    fn contains(&self, object: ObjectId) -> bool {
        self.objects.get(object.index()) == Some(&true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execution::{Access, Op, OpKind};

    fn reads(object: u32, alternatives: u32) -> Pending {
        let op = Op {
            kind: OpKind::Load,
            access: Access::Read,
            object: ObjectId(object),
        };
        Pending::Enabled(Request {
            alternatives,
            ..Request::plain(op)
        })
    }

    #[test]
    fn a_thread_is_spared_while_nobody_races_for_its_operation() {
        let pending = [Pending::Finished, reads(3, 2), reads(5, 1), reads(4, 1)];
        let mut contended = Contended::default();
        let spared = |contended: &Contended| contended.first_spared(&pending);
        assert_eq!(spared(&contended), Some(ThreadId(2)));
        contended.insert(ObjectId(5));
        assert_eq!(spared(&contended), Some(ThreadId(3)));
        contended.insert(ObjectId(4));
        assert_eq!(spared(&contended), None);
    }
}
