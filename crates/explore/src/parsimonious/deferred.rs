//! Children that are deferred until the children that share more with the first execution are
//! explored. This verifies the prefixes of the first execution in turn, each as early as possible.

use super::record::Record;
use super::{Cursor, Parsimonious, Plan};
use std::collections::BTreeMap;

/// The deferred children, by the number of events of the first execution that they keep.
#[derive(Clone, Default, Debug)]
pub(super) struct Deferred {
    children: BTreeMap<usize, Vec<Child>>,
    /// Children that keep at least this number of events are not deferred. If this is `None`, all
    /// children are deferred.
    level: Option<usize>,
}

#[derive(Clone, Debug)]
struct Child {
    /// The events that the child keeps of its parent.
    record: Record,
    plan: Plan,
}

impl Parsimonious {
    /// Defers the planned child if it keeps less of the first execution than the children that are
    /// explored now. Returns whether the child was deferred.
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

    /// Continues with the deferred child that keeps most of the first execution, if there is one.
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
