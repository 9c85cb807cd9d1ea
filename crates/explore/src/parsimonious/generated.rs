//! Facts about the execution that generated an expression P▷x (see `expression`). They never
//! change.

use super::candidate::Name;
use crate::execution::{Access, EventId, Execution, Op, ValueId};
use serde::{Deserialize, Serialize};

/// An event or a schedule that the generating execution performed before the racing read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Item {
    /// The head of a schedule that the read depends on.
    Head(Name),
    /// An event that takes place even if the schedule is not executed.
    Event { name: Name, choice: u32, op: Op },
}

impl Item {
    /// Returns the head of a schedule.
    pub(super) fn head(execution: &Execution, id: EventId) -> Item {
        let event = execution.event(id);
        Item::Head(Name {
            thread: event.thread(),
            index: event.index,
        })
    }

    /// Returns an event of the generating execution.
    pub(super) fn event(execution: &Execution, id: EventId) -> Item {
        let event = execution.event(id);
        let name = Name {
            thread: event.thread(),
            index: event.index,
        };
        Item::Event {
            name,
            choice: event.step.choice,
            op: event.op,
        }
    }
}

/// The facts of an expression about its generating execution.
#[derive(PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Generated {
    /// P
    pub(super) items: Vec<Item>,
    pub(super) summary: Summary,
    /// fid: the event before which the schedule moves the read.
    pub(super) reversed: Name,
    /// fr: whether that event was a read.
    pub(super) reversed_a_read: bool,
    /// v: the value of x right after that event, in the generating execution.
    pub(super) value: ValueId,
}

/// A summary of P, to avoid visiting each item. Threads and objects are mapped to the bits of a
/// word. Several may share a bit.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Summary {
    pub(super) has_heads: bool,
    threads: u64,
    accessed: u64,
    written: u64,
}

impl Summary {
    pub(super) fn of(items: &[Item]) -> Summary {
        let mut summary = Summary::default();
        for item in items {
            match item {
                Item::Head(_) => summary.has_heads = true,
                Item::Event { name, op, .. } => {
                    summary.threads |= 1 << (name.thread.0 % 64);
                    let object = 1 << (op.object.0 % 64);
                    match op.access {
                        Access::None => {}
                        Access::Read => summary.accessed |= object,
                        Access::Write => {
                            summary.accessed |= object;
                            summary.written |= object;
                        }
                    }
                }
            }
        }
        summary
    }

    /// Checks whether P may contain an event with this name.
    pub(super) fn may_contain(&self, name: Name) -> bool {
        self.threads >> (name.thread.0 % 64) & 1 == 1
    }

    /// Checks whether an event of P may conflict with this operation.
    pub(super) fn may_conflict(&self, op: Op) -> bool {
        let objects = match op.access {
            Access::None => 0,
            Access::Read => self.written,
            Access::Write => self.accessed,
        };
        objects >> (op.object.0 % 64) & 1 == 1
    }
}

/// The relation of an event to an item of P.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Concern {
    /// The event follows an executed event that conflicts with the item.
    Follows,
    /// The event conflicts with the item, or is another alternative of it.
    Conflicts,
    /// The event is the item.
    IsSame,
}

impl Concern {
    /// Returns the relation of an alternative of an event to an item that is an alternative of the
    /// same event.
    pub(super) fn of_same_event(choice: u32, other: u32) -> Concern {
        match choice == other {
            true => Concern::IsSame,
            false => Concern::Conflicts,
        }
    }
}
