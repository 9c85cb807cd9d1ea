//! Children that wait until those are explored that have more in common with the first execution: then the prefixes of the
//! first execution are verified one after the other, each after no more executions than it needs.

use super::record::Record;
use super::{Cursor, Parsimonious, Plan};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The children that were left for later, by what they keep of the first execution.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub(super) struct Deferred {
    children: BTreeMap<usize, Vec<Child>>,
    /// Children that keep so much, or more, are explored; all at first.
    level: Option<usize>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Child {
    /// What it keeps of its parent.
    record: Record,
    plan: Plan,
}

impl Parsimonious {
    /// Leaves the child that is planned for later, if it keeps less of the first execution than others do.
    pub(super) fn defers(&mut self, kept: usize) -> bool {
        let Some(deferred) = &mut self.deferred else {
            return false;
        };
        if deferred.level.is_some_and(|level| kept >= level) {
            return false;
        }
        let mut record = self.record.clone();
        record.truncate(kept);
        let plan = std::mem::take(&mut self.plan);
        let child = Child { record, plan };
        deferred.children.entry(kept).or_default().push(child);
        true
    }

    /// Goes on with a child that was left and keeps most of the first execution; false if there is none.
    pub(super) fn resume_deferred(&mut self) -> bool {
        let Some(deferred) = &mut self.deferred else {
            return false;
        };
        let Some(mut most) = deferred.children.last_entry() else {
            return false;
        };
        let kept = *most.key();
        let child = most.get_mut().pop().expect("no entry is empty");
        if most.get().is_empty() {
            most.remove();
        }
        deferred.level = Some(kept);
        self.record = child.record;
        self.plan = child.plan;
        self.kept = kept;
        self.cursor = Cursor::default();
        true
    }
}
