//! A step as it was performed.

use super::{EventId, Op, ThreadId, ValueId};

/// An operation as it was performed.
#[derive(Clone, Copy, Debug)]
pub struct Performed<'a> {
    /// The operation with its actual access.
    pub op: Op,
    /// The value of the object before the operation. Equal ids mean equal values.
    pub before: ValueId,
    /// The value of the object after the operation.
    pub after: ValueId,
    /// Synchronization edges: events that happen before this event in every schedule (spawn → first
    /// event, unlock → the wait that it grants), except the thread's own previous event.
    pub edges: &'a [EventId],
    /// Synchronization edges to later events that this step makes known. A pair (t, e) is an edge
    /// from the event e to the next event of the thread t. All edges of a thread's next event are
    /// known once the thread announces an access.
    pub next_edges: &'a [(ThreadId, EventId)],
    /// Whether the previous step's thread is preempted. Set by [`explore`](crate::explore()).
    pub preempts: bool,
    /// Whether the program rules out all alternatives to this step. Then no other step is tried in
    /// its place, and the event is never the first event of a race.
    pub is_fixed: bool,
}

impl Performed<'_> {
    /// Returns an operation that does not change its object and has no synchronization edges.
    pub const fn of(op: Op) -> Performed<'static> {
        Performed {
            op,
            before: ValueId(0),
            after: ValueId(0),
            edges: &[],
            next_edges: &[],
            preempts: false,
            is_fixed: false,
        }
    }
}
