//! Sleep set characterizations of POP: the reads that need not be executed because a schedule that
//! moves them forward was explored before (Abdulla et al., CAV 2024, section 5).
//!
//! An expression P▷x means: from here, a schedule was explored that moves a read of x before the
//! event f, in an execution that first performed the events of P. A read of x is blocked if its own
//! race with f was found there as well.
//!
//! Points that the paper leaves open: every executed read of x is added to the expression
//! (`reads`), including the racing read itself. The expression of an inherited schedule is nested
//! (`inner`); it has been advanced to the racing read. A write discards an outer expression only if
//! it writes the expression's object, or if the inner schedule is not complete (`done`). Because
//! accesses may depend on the state, an expression also has the identity of f (`reversed`), the
//! kind of f, and the value right after f.

use super::candidate::{Candidate, Name};
use super::few::Few;
use super::generated::{Concern, Generated, Item, Summary};
use crate::execution::{Access, Execution, ObjectId, Op, Race};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Executed events. Only the first event of each thread is kept, because whatever follows a later
/// one also follows the first.
type Executed = Few<Name>;

impl Executed {
    /// Checks whether one of the events happens before `event` (s ≠ e, s → e).
    fn precedes(&self, event: &Candidate<'_>) -> bool {
        self.iter().any(|&name| event.follows(name))
    }

    fn insert(&mut self, name: Name) {
        match self.iter_mut().find(|first| first.thread == name.thread) {
            Some(first) => first.index = first.index.min(name.index),
            None => self.push(name),
        }
    }
}

/// ψ = (P, x, R, inner, D, fr, v, fid). The fields here and in [`Generated`] explain the letters.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Vec<Layer>", into = "Vec<Layer>")]
pub(super) struct Expression {
    /// x
    pub(super) object: ObjectId,
    /// The items of P that were also executed here: bit i of word i / 64 stands for item i.
    removed: Few<u64>,
    /// The parts that change less often.
    rest: Arc<Rest>,
}

#[derive(Clone, Debug)]
struct Rest {
    generated: Arc<Generated>,
    /// R: executed reads of x.
    reads: Executed,
    /// Executed events that conflict with an item of P, each with the index of the item.
    conflicting: Few<(u32, Name)>,
    /// The expression of an inherited schedule.
    inner: Option<Expression>,
    /// D: executed heads of schedules that `inner` characterizes.
    done: Executed,
}

/// An expression without its nested expressions. A saved expression is a list of layers, the
/// outermost first.
#[derive(Serialize, Deserialize)]
struct Layer {
    object: ObjectId,
    removed: Few<u64>,
    generated: Arc<Generated>,
    reads: Executed,
    conflicting: Few<(u32, Name)>,
    done: Executed,
}

/// The greatest nesting depth of a saved expression, far above the depth of inherited schedules in
/// practice. Expressions are dropped and updated recursively.
const DEEPEST: usize = 2_000;

impl From<Expression> for Vec<Layer> {
    fn from(expression: Expression) -> Vec<Layer> {
        let mut layers = Vec::new();
        let mut next = Some(&expression);
        while let Some(Expression {
            object,
            removed,
            rest,
        }) = next
        {
            layers.push(Layer {
                object: *object,
                removed: removed.clone(),
                generated: Arc::clone(&rest.generated),
                reads: rest.reads.clone(),
                conflicting: rest.conflicting.clone(),
                done: rest.done.clone(),
            });
            next = rest.inner.as_ref();
        }
        layers
    }
}

impl TryFrom<Vec<Layer>> for Expression {
    type Error = &'static str;

    fn try_from(layers: Vec<Layer>) -> Result<Expression, &'static str> {
        if layers.len() > DEEPEST {
            return Err("a sleep set is nested too deeply");
        }
        let nested = |inner: Option<Expression>, layer: Layer| {
            let rest = Rest {
                generated: layer.generated,
                reads: layer.reads,
                conflicting: layer.conflicting,
                inner,
                done: layer.done,
            };
            Some(Expression {
                object: layer.object,
                removed: layer.removed,
                rest: Arc::new(rest),
            })
        };
        let outermost = layers.into_iter().rev().fold(None, nested);
        outermost.ok_or("a sleep set has an empty expression")
    }
}

/// The event is characterized as explored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Blocked;

/// The effect of an event on an expression.
pub(super) enum Update {
    Unchanged,
    /// The event is only added to R.
    Read,
    Changed(Expression),
    /// The expression is discarded.
    Gone,
}

impl Expression {
    /// Returns P▷x or P[inner]▷x for a race's second event.
    pub(super) fn new(
        race: Race,
        execution: &Execution,
        items: Vec<Item>,
        inner: Option<Expression>,
    ) -> Expression {
        let first = execution.event(race.first);
        let second = execution.event(race.second);
        let read = Name {
            thread: second.thread(),
            index: second.index,
        };
        let generated = Generated {
            summary: Summary::of(&items),
            items,
            reversed: Name {
                thread: first.thread(),
                index: first.index,
            },
            reversed_a_read: first.op.access == Access::Read,
            value: first.after,
        };
        Expression {
            object: second.op.object,
            removed: Few::default(),
            rest: Arc::new(Rest {
                generated: Arc::new(generated),
                reads: Few::one(read),
                conflicting: Few::default(),
                inner,
                done: Executed::default(),
            }),
        }
    }

    /// Updates the expression for an event. A write of x discards the expression. `is_late` is true
    /// if the event follows a read of x that is recorded outside the expression.
    pub(super) fn after(&self, event: &Candidate<'_>, is_late: bool) -> Result<Update, Blocked> {
        if event.op.access != Access::Write {
            return if is_late {
                Ok(Update::Unchanged)
            } else {
                self.update(event)
            };
        }
        match self.after_write(event.op.object) {
            Update::Changed(left) if !is_late => Ok(match left.update(event)? {
                Update::Unchanged => Update::Changed(left),
                update @ (Update::Read | Update::Changed(_) | Update::Gone) => update,
            }),
            Update::Unchanged if !is_late => self.update(event),
            update @ (Update::Unchanged | Update::Read | Update::Changed(_) | Update::Gone) => {
                Ok(update)
            }
        }
    }

    /// Updates the expression for a sequence of events. Returns `None` if an event discards it.
    pub(super) fn after_all<'a>(
        &self,
        events: impl Iterator<Item = Candidate<'a>>,
    ) -> Result<Option<Expression>, Blocked> {
        let mut left = self.clone();
        for event in events {
            match left.after(&event, false)? {
                Update::Unchanged => {}
                Update::Read => left = left.with(|rest| rest.reads.insert(event.name)),
                Update::Changed(changed) => left = changed,
                Update::Gone => return Ok(None),
            }
        }
        Ok(Some(left))
    }

    /// Kill(ψ, y): a write discards the expression if the write is on the expression's object, or
    /// if it discards the inherited schedule before that schedule is complete.
    fn after_write(&self, object: ObjectId) -> Update {
        if self.object == object {
            return Update::Gone;
        }
        let Some(inner) = &self.rest.inner else {
            return Update::Unchanged;
        };
        let inner = match inner.after_write(object) {
            Update::Unchanged | Update::Read => return Update::Unchanged,
            Update::Gone if self.rest.done.is_empty() => return Update::Gone,
            Update::Gone => None,
            Update::Changed(inner) => Some(inner),
        };
        Update::Changed(self.with(|rest| rest.inner = inner))
    }

    /// Returns the expression after this change.
    fn with(&self, change: impl FnOnce(&mut Rest)) -> Expression {
        let mut rest = Rest::clone(&self.rest);
        change(&mut rest);
        Expression {
            rest: Arc::new(rest),
            ..self.clone()
        }
    }

    fn is_removed(&self, item: usize) -> bool {
        self.removed
            .get(item / 64)
            .is_some_and(|word| word >> (item % 64) & 1 == 1)
    }

    fn without_item(&self, item: usize) -> Expression {
        let mut changed = self.clone();
        while changed.removed.len() <= item / 64 {
            changed.removed.push(0);
        }
        changed.removed[item / 64] |= 1 << (item % 64);
        changed
    }

    /// Checks whether an executed event that conflicts with the item happens before `event`.
    fn follows_conflicting(&self, item: usize, event: &Candidate<'_>) -> bool {
        self.rest
            .conflicting
            .iter()
            .any(|&(of, name)| of as usize == item && event.follows(name))
    }

    /// Returns the first item of P that concerns the event, performed as `op`. This means that the
    /// event is the item, conflicts with the item, or follows an executed event that conflicts with
    /// the item. Items that were removed do not count.
    fn first_concerned(&self, event: &Candidate<'_>, op: Op) -> Option<(usize, Concern)> {
        let Generated { items, summary, .. } = &*self.rest.generated;
        if self.rest.conflicting.is_empty() && !summary.may_conflict(op) {
            return self.own_item(event);
        }
        items.iter().enumerate().find_map(|(at, item)| {
            let &Item::Event {
                name,
                choice,
                op: other,
            } = item
            else {
                return None;
            };
            if self.is_removed(at) {
                None
            } else if self.follows_conflicting(at, event) {
                Some((at, Concern::Follows))
            } else if name == event.name {
                Some((at, Concern::of_same_event(choice, event.choice)))
            } else if name.thread != event.name.thread && other.conflicts_with(op) {
                Some((at, Concern::Conflicts))
            } else {
                None
            }
        })
    }

    /// Returns the item of P that is the event, if there is one.
    fn own_item(&self, event: &Candidate<'_>) -> Option<(usize, Concern)> {
        let Generated { items, summary, .. } = &*self.rest.generated;
        if !summary.may_contain(event.name) {
            return None;
        }
        let mut items = items.iter();
        let (at, choice) = loop {
            match items.next()? {
                Item::Event { name, choice, .. } if *name == event.name => {
                    break (self.rest.generated.items.len() - items.len() - 1, *choice);
                }
                Item::Event { .. } | Item::Head(_) => {}
            }
        };
        (!self.is_removed(at)).then(|| (at, Concern::of_same_event(choice, event.choice)))
    }

    /// Checks whether the event follows every head among the items.
    fn follows_heads(&self, event: &Candidate<'_>, items: &[Item]) -> bool {
        !self.rest.generated.summary.has_heads
            || items.iter().all(|item| match item {
                Item::Head(head) => event.follows(*head),
                Item::Event { .. } => true,
            })
    }

    /// UpdSE(e, ψ): returns the effect of an event, apart from what a write does (see
    /// `after_write`).
    fn update(&self, event: &Candidate<'_>) -> Result<Update, Blocked> {
        if self.rest.reads.precedes(event) {
            return Ok(Update::Unchanged);
        }
        if event.op.reads(self.object) {
            if self.blocks(event) {
                return Err(Blocked);
            }
            return Ok(Update::Read);
        }
        match self.first_concerned(event, event.op) {
            // This event need not be recorded, because later events that follow it also follow the
            // recorded conflicting event.
            Some((_, Concern::Follows)) => return Ok(Update::Unchanged),
            Some((at, Concern::Conflicts)) => {
                let conflict = (at as u32, event.name);
                return Ok(Update::Changed(
                    self.with(|rest| rest.conflicting.push(conflict)),
                ));
            }
            Some((at, Concern::IsSame)) => return Ok(Update::Changed(self.without_item(at))),
            None => {}
        }
        let rest = &self.rest;
        let Some(inner) = rest.inner.as_ref().filter(|_| !rest.done.precedes(event)) else {
            return Ok(Update::Unchanged);
        };
        Ok(match inner.update(event) {
            Ok(Update::Unchanged | Update::Gone) => Update::Unchanged,
            Ok(Update::Read) => {
                let inner = inner.with(|rest| rest.reads.insert(event.name));
                Update::Changed(self.with(|rest| rest.inner = Some(inner)))
            }
            Ok(Update::Changed(inner)) => {
                Update::Changed(self.with(|rest| rest.inner = Some(inner)))
            }
            Err(Blocked) => Update::Changed(self.with(|rest| rest.done.insert(event.name))),
        })
    }

    /// Returns true only if the expression cannot block the event, and the event changes nothing
    /// but R in it, unless the event writes x. If the result is true, no item is the event or
    /// conflicts with it. The check is cheap, but has false negatives.
    pub(super) fn is_indifferent_to(&self, event: &Candidate<'_>) -> bool {
        let summary = &self.rest.generated.summary;
        self.rest.inner.is_none()
            && self.rest.done.is_empty()
            && self.rest.conflicting.is_empty()
            && event.expects.is_none()
            && !summary.may_contain(event.name)
            && !summary.may_conflict(event.op)
    }

    /// Checks whether a read that is executed next is blocked.
    pub(super) fn blocks_next(&self, read: &Candidate<'_>) -> bool {
        self.object == read.op.object && !self.rest.reads.precedes(read) && self.blocks(read)
    }

    /// Checks whether the generating execution performed the read without needing a schedule. Then
    /// the read is blocked after any events that do not access x. The check is cheap, but has false
    /// negatives.
    pub(super) fn contains_read(&self, read: &Candidate<'_>) -> bool {
        let Rest {
            generated,
            inner,
            done,
            ..
        } = &*self.rest;
        self.object == read.op.object
            && read.expects.is_none()
            && inner.is_none()
            && done.is_empty()
            && !generated.summary.has_heads
            && !generated.reversed_a_read
            && generated.reversed != read.name
            && self.own_item(read).is_some()
            && !self.rest.reads.precedes(read)
    }

    /// Blocks(e, ψ): checks whether the schedule of a read e of x, which follows no read of R,
    /// would have been found before. Checks the execution that generated this expression first,
    /// then that of `inner`.
    fn blocks(&self, event: &Candidate<'_>) -> bool {
        let generated = &*self.rest.generated;
        if event.name == generated.reversed {
            return false;
        }
        // A conditional operation has the kind that it would have right after f.
        let access = event.access_at(generated.value);
        if generated.reversed_a_read && access == Access::Read {
            return false;
        }
        let there = Op { access, ..event.op };
        let items = &generated.items;
        if let Some((at, _)) = self.first_concerned(event, there) {
            return self.follows_heads(event, &items[..at]);
        }
        if !self.follows_heads(event, items) {
            return false;
        }
        if self.rest.done.precedes(event) {
            return true;
        }
        self.rest
            .inner
            .as_ref()
            .is_some_and(|inner| inner.object == event.op.object && inner.blocks(event))
    }
}
