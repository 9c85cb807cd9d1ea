//! Finds stale reads in an execution under a weak memory model. A read is *stale* if a newer write
//! than the one that it reads came before it in the execution.

use explore::{Access, EventId, Execution, ObjectId, ReadsFrom};
use std::collections::BTreeMap;

/// A stale read, and a newer write that came before the read in the execution but was not read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Unseen {
    pub(crate) write: EventId,
    pub(crate) read: EventId,
    /// A later write by the thread of `write`, and an event by the thread of `read` that read it
    /// before `read`.
    pub(crate) through: Option<(EventId, EventId)>,
}

/// Returns the source of a read: `Some(Some(write))`, or `Some(None)` for the initial value.
/// Returns `None` if the event is not an access or does not name its source.
fn source(execution: &Execution, read: EventId) -> Option<Option<EventId>> {
    let event = execution.event(read);
    match event.step.reads_from {
        ReadsFrom::INITIAL => Some(None),
        source => source.event().map(Some),
    }
    .filter(|_| event.op.is_access())
}

/// Returns the stale reads in order, each with the write that was last in coherence order when the
/// read was performed.
pub(crate) fn unseen(execution: &Execution) -> Vec<Unseen> {
    let mut newest: BTreeMap<ObjectId, EventId> = BTreeMap::new();
    let mut found = Vec::new();
    for (id, event) in execution.events() {
        let newer = newest.get(&event.op.object).copied();
        let source = source(execution, id);
        let is_stale = source.is_some_and(|source| source != newer);
        if let Some(write) = newer.filter(|_| is_stale) {
            found.push(Unseen {
                write,
                read: id,
                through: through(execution, write, id),
            });
        }
        // A read-modify-write stands directly behind the write that it reads from.
        let is_newest = match event.step.reads_from {
            ReadsFrom::OVERWRITTEN => false,
            _ => !is_stale,
        };
        if event.op.access == Access::Write && is_newest {
            newest.insert(event.op.object, id);
        }
    }
    found
}

/// Finds the last event before `read`, in the thread of `read`, that reads from a later write by
/// the thread of `write`. Returns that write and that event.
fn through(execution: &Execution, write: EventId, read: EventId) -> Option<(EventId, EventId)> {
    let [writer, reader] = [write, read].map(|event| execution.event(event).thread());
    let before = (write.index() + 1..read.index()).rev().map(EventId::at);
    let mut before = before.filter(|&event| execution.event(event).thread() == reader);
    before.find_map(|load| {
        let store = source(execution, load)??;
        let is_later = store > write && execution.event(store).thread() == writer;
        is_later.then_some((store, load))
    })
}

/// Checks whether the execution comes from a search under a weak memory model, in which steps name
/// the writes that they read from.
pub(crate) fn is_weak(execution: &Execution) -> bool {
    let mut events = execution.events();
    events.any(|(_, event)| event.step.reads_from != ReadsFrom::LAST)
}
