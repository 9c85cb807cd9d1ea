//! The expressions that are valid after a prefix of an execution.
//!
//! The module `expression` describes expressions. Each is augmented by the reads of its object that
//! were executed since the expression was added (a part of R). These reads are recorded once for
//! all expressions.

use super::candidate::{Candidate, Name};
use super::expression::{Blocked, Expression, Update};
use super::few::Few;
use crate::execution::ObjectId;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::sync::Arc;

/// A set of expressions (see the module), usually empty.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub(super) struct SleepSet {
    members: Option<Arc<Members>>,
    /// Executed reads of the members' objects.
    reads: Few<(ObjectId, Name)>,
}

/// The expressions of a set, usually one.
type Members = SmallVec<[Member; 1]>;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Member {
    expression: Expression,
    /// The number of reads that were recorded before the expression was added.
    since: usize,
}

impl SleepSet {
    /// The empty set: no schedule is characterized as explored.
    pub(super) const EMPTY: &SleepSet = &SleepSet {
        members: None,
        reads: Few::EMPTY,
    };

    pub(super) fn is_empty(&self) -> bool {
        self.members.is_none()
    }

    fn members(&self) -> &[Member] {
        self.members.as_deref().map_or(&[], SmallVec::as_slice)
    }

    /// Checks whether the event follows a read that augments the member.
    fn is_late(&self, member: &Member, event: &Candidate<'_>) -> bool {
        let reads = &self.reads[member.since..];
        let object = member.expression.object;
        reads
            .iter()
            .any(|&(read, name)| read == object && event.follows(name))
    }

    /// UpdSeq(⟨e⟩, SS): returns the set after the event, or `None` if the set does not change. It
    /// is an error if the set blocks the event.
    pub(super) fn after(&self, event: &Candidate<'_>) -> Result<Option<SleepSet>, Blocked> {
        let members = self.members();
        let mut is_read = false;
        let mut updated: Option<Members> = None;
        for (at, member) in members.iter().enumerate() {
            let update = member
                .expression
                .after(event, self.is_late(member, event))?;
            let expression = match update {
                Update::Unchanged | Update::Read => {
                    is_read |= matches!(update, Update::Read);
                    if let Some(updated) = &mut updated {
                        updated.push(member.clone());
                    }
                    continue;
                }
                Update::Changed(changed) => Some(changed),
                Update::Gone => None,
            };
            let updated = updated.get_or_insert_with(|| members[..at].into());
            updated.extend(expression.map(|expression| Member {
                expression,
                since: member.since,
            }));
        }
        if updated.is_none() && !is_read {
            return Ok(None);
        }
        let mut after = match updated {
            None => self.clone(),
            Some(updated) if updated.is_empty() => return Ok(Some(SleepSet::default())),
            Some(updated) => SleepSet {
                members: Some(Arc::new(updated)),
                reads: self.reads.clone(),
            },
        };
        if is_read {
            after.reads.push((event.op.object, event.name));
        }
        Ok(Some(after))
    }

    /// Checks whether a schedule is characterized as explored. `schedule` does not
    /// contain its head. If the head is a read, `head` is that read, and otherwise `None`.
    pub(super) fn blocks_schedule<'a>(
        &self,
        schedule: impl Iterator<Item = Candidate<'a>> + Clone,
        head: Option<&Candidate<'_>>,
    ) -> bool {
        let is_first_access = |head: &Candidate<'_>| {
            let touches =
                |event: Candidate<'_>| event.op.is_access() && event.op.object == head.op.object;
            !schedule.clone().any(touches)
        };
        // The newest members block most.
        self.members().iter().rev().any(|member| {
            let expression = &member.expression;
            if let Some(head) = head
                && expression.contains_read(head)
                && !self.is_late(member, head)
                && is_first_access(head)
            {
                return true;
            }
            let is_free = head.is_none_or(|head| expression.is_indifferent_to(head))
                && schedule
                    .clone()
                    .all(|event| expression.is_indifferent_to(&event));
            !is_free
                && self
                    .member_blocks_schedule(member, schedule.clone(), head)
                    .is_err()
        })
    }

    /// Like `blocks_schedule`, for one member: returns an error if the member blocks the schedule.
    fn member_blocks_schedule<'a>(
        &self,
        member: &Member,
        schedule: impl Iterator<Item = Candidate<'a>>,
        head: Option<&Candidate<'_>>,
    ) -> Result<(), Blocked> {
        let mut expression: Option<Expression> = None;
        let mut reads: SmallVec<[Name; 2]> = SmallVec::new();
        let is_late = |event: &Candidate<'_>, reads: &[Name]| {
            self.is_late(member, event) || reads.iter().any(|&read| event.follows(read))
        };
        for event in schedule {
            let left = expression.as_ref().unwrap_or(&member.expression);
            match left.after(&event, is_late(&event, &reads))? {
                Update::Unchanged => {}
                Update::Read => reads.push(event.name),
                Update::Changed(changed) => expression = Some(changed),
                Update::Gone => return Ok(()),
            }
        }
        let left = expression.as_ref().unwrap_or(&member.expression);
        match head {
            Some(head) if !is_late(head, &reads) && left.blocks_next(head) => Err(Blocked),
            Some(_) | None => Ok(()),
        }
    }

    /// Checks whether reads of the object may be characterized as explored.
    pub(super) fn is_about(&self, object: ObjectId) -> bool {
        self.members()
            .iter()
            .any(|member| member.expression.object == object)
    }

    /// Checks whether the read is characterized as explored.
    pub(super) fn blocks(&self, read: &Candidate<'_>) -> bool {
        self.members()
            .iter()
            .rev()
            .any(|member| !self.is_late(member, read) && member.expression.blocks_next(read))
    }

    /// SS ∪ φ: returns the set with the expressions of a characterization added.
    pub(super) fn with(&self, characterization: &[Expression]) -> SleepSet {
        let since = self.reads.len();
        let added = characterization.iter().map(|expression| Member {
            expression: expression.clone(),
            since,
        });
        let mut members = Members::from(self.members());
        members.extend(added);
        SleepSet {
            members: Some(Arc::new(members)),
            reads: self.reads.clone(),
        }
    }
}
