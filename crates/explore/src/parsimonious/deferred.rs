//! Children that are deferred until the children that share more with the first execution are
//! explored. This verifies the prefixes of the first execution in turn, each as early as possible.

use super::record::Record;
use super::{Child, Parsimonious};
use std::collections::BTreeMap;

/// The deferred children.
#[derive(Clone, Default, Debug)]
pub(super) struct Deferred {
    /// The children with the events that they keep, by the number of these events.
    children: BTreeMap<usize, Vec<(Record, Child)>>,
    /// Children that keep at least this number of events are not deferred. If this is `None`, all
    /// children are deferred.
    level: Option<usize>,
}

impl Parsimonious {
    /// Removes the children that keep less of the first execution than the children that are
    /// explored now, and defers them.
    pub(super) fn defer(&mut self, children: &mut Vec<Child>) {
        let Some(deferred) = &mut self.deferred else {
            return;
        };
        let level = deferred.level;
        let is_late = |child: &mut Child| level.is_none_or(|level| child.kept < level);
        for child in children.extract_if(.., is_late) {
            let mut record = self.record.clone();
            record.truncate(child.kept);
            let later = deferred.children.entry(child.kept).or_default();
            later.push((record, child));
        }
    }

    /// Continues with the deferred child that keeps most of the first execution, if there is one.
    pub(super) fn resume_deferred(&mut self) -> bool {
        let Some(deferred) = &mut self.deferred else {
            return false;
        };
        let Some(mut most) = deferred.children.last_entry() else {
            return false;
        };
        deferred.level = Some(*most.key());
        let (record, child) = most.get_mut().pop().expect("no entry is empty");
        let next = child.next_alternative().map(|next| (record.clone(), next));
        most.get_mut().extend(next);
        if most.get().is_empty() {
            most.remove();
        }
        self.record = record;
        self.needed = 0;
        self.begin(child);
        true
    }
}
