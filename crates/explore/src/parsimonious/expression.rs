//! Sleep set characterisations of POP: which reads need not be executed because a schedule that
//! brings them forward was explored before (Abdulla et al., CAV 2024, section 5).
//!
//! An expression P▷x stands for: a schedule that brings a read of x before the event f was explored
//! from here, in an execution that performed the events of P first. A read of x that would have been
//! found there, too, is blocked.
//!
//! Where the paper is silent: every executed read of x counts as augmenting (`reads`), also the
//! racing read itself; expressions of inherited schedules are nested (`inner`) and have advanced to
//! the racing read; a write discards an outer expression only if it is on its object or the inner
//! schedule is not complete (`done`). State-dependent kinds add the identity of f (`reversed`), its
//! kind, and the value right after it.

use crate::execution::{
    Access, EventId, Execution, ObjectId, Op, Race, Request, ThreadId, Token, access_at,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// An event by name: the same in every execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Name {
    pub(super) thread: ThreadId,
    pub(super) index: u32,
}

/// Executed events, as far as it matters what comes after them: the first of each thread.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Executed(Vec<Name>);

impl Executed {
    /// Whether one of them happens before the event (s ≠ e, s → e).
    fn precedes(&self, event: &Candidate<'_>) -> bool {
        self.0.iter().any(|&name| event.follows(name))
    }

    fn insert(&mut self, name: Name) {
        match self.0.iter_mut().find(|first| first.thread == name.thread) {
            Some(first) => first.index = first.index.min(name.index),
            None => self.0.push(name),
        }
    }
}

/// An event that is executed, or might be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<'a> {
    name: Name,
    choice: u32,
    op: Op,
    expects: Option<Token>,
    clock: &'a [u32],
}

impl<'a> Candidate<'a> {
    /// An event of the execution.
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

    /// The second event of a race as a read before the first, with its clock there.
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

    /// The next event of a thread, with the clock that it would have.
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

    /// name → self and name ≠ self
    fn follows(&self, name: Name) -> bool {
        if name.thread == self.name.thread {
            return name.index < self.name.index;
        }
        self.clock
            .get(name.thread.index())
            .is_some_and(|&known| known >= name.index)
    }

    /// The kind that it would have where its object holds `value`.
    fn access_at(&self, value: Token) -> Access {
        access_at(self.op.access, self.expects, value)
    }
}

/// What the generating execution performed before the racing read.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Item {
    /// The head of a schedule that was necessary.
    Head(Name),
    /// An event that this execution has not performed, with the executed events that conflict with
    /// it or follow such ones.
    Event {
        name: Name,
        choice: u32,
        op: Op,
        conflicting: Executed,
    },
}

impl Item {
    /// An event of the generating execution.
    pub(super) fn event(execution: &Execution, id: EventId) -> Item {
        let event = execution.event(id);
        Item::Event {
            name: Name {
                thread: event.thread(),
                index: event.index,
            },
            choice: event.step.choice,
            op: event.op,
            conflicting: Executed::default(),
        }
    }
}

/// ψ = (P, x, R, inner, D, fr, v, fid)
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Expression {
    /// P
    pub(super) items: Vec<Item>,
    /// x
    pub(super) object: ObjectId,
    /// R: executed reads of x.
    reads: Executed,
    /// The expression of an inherited schedule.
    inner: Option<Box<Expression>>,
    /// D: executed heads of schedules that `inner` characterises.
    done: Executed,
    /// fid: the event that the schedule comes before.
    reversed: Name,
    /// fr: whether that event was a read.
    reversed_a_read: bool,
    /// v: the value of x right after it, in the generating execution.
    value: Token,
}

/// The event is characterised as explored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Blocked;

impl Expression {
    /// P▷x or P[inner]▷x of a race's second event.
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
        Expression {
            items,
            object: second.op.object,
            reads: Executed(vec![read]),
            inner: inner.map(Box::new),
            done: Executed::default(),
            reversed: Name {
                thread: first.thread(),
                index: first.index,
            },
            reversed_a_read: first.op.access == Access::Read,
            value: first.after,
        }
    }

    /// What is left of it after a write of `object`; false if nothing is.
    fn survives_write(&mut self, object: ObjectId) -> bool {
        if self.object == object {
            return false;
        }
        if let Some(inner) = &mut self.inner
            && !inner.survives_write(object)
        {
            self.inner = None;
            return !self.done.0.is_empty();
        }
        true
    }

    /// UpdSE(e, ψ)
    fn update(&mut self, event: &Candidate<'_>) -> Result<(), Blocked> {
        if self.reads.precedes(event) {
            return Ok(());
        }
        if event.op.reads(self.object) {
            if self.blocks(event) {
                return Err(Blocked);
            }
            // A read of x changes nothing but R.
            self.reads.insert(event.name);
            return Ok(());
        }
        for at in 0..self.items.len() {
            let Item::Event {
                name,
                choice,
                op,
                conflicting,
            } = &mut self.items[at]
            else {
                continue;
            };
            let is_same_step = *name == event.name;
            let conflicts = match is_same_step {
                true => *choice != event.choice,
                false => name.thread != event.name.thread && op.conflicts_with(event.op),
            };
            if conflicts || conflicting.precedes(event) {
                conflicting.insert(event.name);
                return Ok(());
            }
            if is_same_step {
                self.items.remove(at);
                return Ok(());
            }
        }
        if self.done.precedes(event) {
            return Ok(());
        }
        if let Some(inner) = &mut self.inner
            && inner.update(event).is_err()
        {
            self.done.insert(event.name);
        }
        Ok(())
    }

    /// Blocks(e, ψ): whether the schedule of a read e of x, which follows no read of R, would have
    /// been found before. Asked of one generating execution after the other.
    fn blocks(&self, event: &Candidate<'_>) -> bool {
        if event.name == self.reversed {
            return false;
        }
        // A conditional operation has the kind here that it would have right after f.
        let access = event.access_at(self.value);
        if self.reversed_a_read && access == Access::Read {
            return false;
        }
        let there = Op { access, ..event.op };
        for item in &self.items {
            match item {
                Item::Head(head) if event.follows(*head) => {}
                Item::Head(_) => return false,
                Item::Event {
                    name,
                    op,
                    conflicting,
                    ..
                } => {
                    let conflicts = match name.thread == event.name.thread {
                        true => name.index == event.name.index,
                        false => op.conflicts_with(there),
                    };
                    if conflicts || conflicting.precedes(event) {
                        return true;
                    }
                }
            }
        }
        if self.done.precedes(event) {
            return true;
        }
        self.inner
            .as_ref()
            .is_some_and(|inner| inner.object == event.op.object && inner.blocks(event))
    }
}

/// The expressions that hold after a prefix of an execution; mostly none.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub(super) struct SleepSet(Option<Arc<Vec<Expression>>>);

impl SleepSet {
    /// Characterises these.
    pub(super) fn of(expressions: Vec<Expression>) -> SleepSet {
        SleepSet((!expressions.is_empty()).then(|| Arc::new(expressions)))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub(super) fn expressions(&self) -> &[Expression] {
        self.0.as_deref().map_or(&[], Vec::as_slice)
    }

    /// UpdSeq(⟨e⟩, SS)
    pub(super) fn update(&mut self, event: &Candidate<'_>) -> Result<(), Blocked> {
        let Some(shared) = &mut self.0 else {
            return Ok(());
        };
        let expressions = Arc::make_mut(shared);
        if event.op.access == Access::Write {
            expressions.retain_mut(|expression| expression.survives_write(event.op.object));
        }
        for expression in expressions.iter_mut() {
            expression.update(event)?;
        }
        if expressions.is_empty() {
            self.0 = None;
        }
        Ok(())
    }

    /// Whether the read is characterised as explored.
    pub(super) fn blocks(&self, read: &Candidate<'_>) -> bool {
        self.expressions().iter().any(|expression| {
            expression.object == read.op.object
                && !expression.reads.precedes(read)
                && expression.blocks(read)
        })
    }

    /// SS ∪ φ
    pub(super) fn activate(&mut self, characterisation: Option<&Vec<Expression>>) {
        let Some(added) = characterisation.filter(|added| !added.is_empty()) else {
            return;
        };
        match &mut self.0 {
            Some(expressions) => Arc::make_mut(expressions).extend_from_slice(added),
            None => self.0 = Some(Arc::new(added.clone())),
        }
    }
}
