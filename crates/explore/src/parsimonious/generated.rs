//! What an expression says of the execution that generated it (P of P▷x); never changes.

use super::candidate::Name;
use crate::execution::{Access, EventId, Execution, Op, Token};
use serde::{Deserialize, Serialize};

/// What the generating execution performed before the racing read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Item {
    /// The head of a schedule that was necessary.
    Head(Name),
    /// An event that was performed without the schedule.
    Event { name: Name, choice: u32, op: Op },
}

impl Item {
    /// The head of a schedule.
    pub(super) fn head(execution: &Execution, id: EventId) -> Item {
        let event = execution.event(id);
        Item::Head(Name {
            thread: event.thread(),
            index: event.index,
        })
    }

    /// An event of the generating execution.
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

/// What an expression says of its generating execution; never changes.
#[derive(PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Generated {
    /// P
    pub(super) items: Vec<Item>,
    pub(super) summary: Summary,
    /// fid: the event that the schedule comes before.
    pub(super) reversed: Name,
    /// fr: whether that event was a read.
    pub(super) reversed_a_read: bool,
    /// v: the value of x right after it, in the generating execution.
    pub(super) value: Token,
}

/// What can be said of P without looking at each item. Threads and objects are bits of a word, each
/// of which may stand for several.
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

    /// Whether an event of this name may be among them.
    pub(super) fn may_contain(&self, name: Name) -> bool {
        self.threads >> (name.thread.0 % 64) & 1 == 1
    }

    /// Whether an event may conflict with this operation.
    pub(super) fn may_conflict(&self, op: Op) -> bool {
        let objects = match op.access {
            Access::None => 0,
            Access::Read => self.written,
            Access::Write => self.accessed,
        };
        objects >> (op.object.0 % 64) & 1 == 1
    }
}

/// What an event has to do with an item of P.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Concern {
    /// It follows an executed event that conflicts with the item.
    Follows,
    /// It conflicts with the item, or is another alternative of it.
    Conflicts,
    /// It is the item.
    IsSame,
}

impl Concern {
    pub(super) fn of_same_event(choice: u32, other: u32) -> Concern {
        match choice == other {
            true => Concern::IsSame,
            false => Concern::Conflicts,
        }
    }
}
