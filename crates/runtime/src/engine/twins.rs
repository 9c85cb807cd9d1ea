//! Recognizes *twins*: threads that their parent starts with the same code and equal captures,
//! without an event in between. A search may explore them up to permutation ([`explore::Symmetric`])
//! until the program tells them apart: it uses the identity of a twin, or its parent does not join
//! all of them together. Then they no longer count as twins ([`Coarsening::Distinguished`]), and the
//! search starts again.

use crate::engine::Engine;
use crate::engine::kin::{Code, Group};
use crate::engine::names::Names;
use crate::guests::Wait;
use explore::{Outcome, Pending, ThreadId};
use objects::Coarsening;

impl Engine {
    /// Records the code of the next child of the running thread.
    pub(crate) fn will_run(&mut self, code: Code) {
        let kin = &mut self.thread().life.kin;
        kin.get_or_insert_default().code_of_child = Some(code);
    }

    /// Sets whether the running thread joins all its children that it has not joined, and does
    /// nothing else.
    #[inline]
    pub(crate) fn joins_all(&mut self, joins_all: bool) {
        if let Some(kin) = &mut self.thread().life.kin {
            kin.joins_all = joins_all;
        }
    }

    /// Finds the twin of a thread that the running thread has just started.
    #[cold]
    pub(crate) fn find_twin(&mut self, child: ThreadId) {
        self.tell_apart(self.running);
        let is_named = self.threads[child.index()].life.name.is_some();
        let parent = &mut self.threads[self.running.index()].life;
        let after = parent.last;
        let Some(kin) = &mut parent.kin else {
            return;
        };
        let Some(code) = kin.code_of_child.take() else {
            return;
        };
        if is_named || self.late.is_some() {
            return;
        }
        let names = &self.names;
        let is_of = |group: &Group| {
            let end = names.end(group.members[0]);
            (&group.code, group.after, group.joined) == (&code, after, 0)
                && !group.is_closed
                && !names.is_coarse(end, Coarsening::Distinguished)
        };
        let mut differs_from = None;
        let (group, twin) = match kin.groups.iter().position(is_of) {
            Some(number) => {
                let members = &mut kin.groups[number].members;
                members.push(child);
                (number, Some(members[members.len() - 2]))
            }
            None => {
                let mut others = kin.groups.iter();
                differs_from = others
                    .find(|group| group.code.may_be(&code))
                    .map(|group| group.members[0]);
                kin.groups.push(Group {
                    code,
                    members: vec![child],
                    after,
                    joined: 0,
                    joined_after: None,
                    result: None,
                    is_closed: false,
                });
                (kin.groups.len() - 1, None)
            }
        };
        let own = self.threads[child.index()].life.kin.get_or_insert_default();
        (own.group, own.twin) = (Some(group), twin);
        // The bytes of padding may be equal in one execution and differ in another.
        if let Some(other) = differs_from {
            self.coarsen_object(self.names.end(other), Coarsening::Distinguished);
        }
    }

    /// Returns the twin that was started right before the thread, if there is one.
    pub(crate) fn twin(&self, thread: ThreadId) -> Option<ThreadId> {
        self.threads[thread.index()].life.kin.as_ref()?.twin
    }

    fn group(&mut self, thread: ThreadId) -> Option<&mut Group> {
        let number = self.threads[thread.index()].life.kin.as_ref()?.group?;
        let parent = self.names.parent(thread);
        let kin = self.threads[parent.index()].life.kin.as_mut()?;
        kin.groups.get_mut(number)
    }

    /// Records that the program uses the identity of the thread.
    #[cold]
    pub(crate) fn tell_apart(&mut self, thread: ThreadId) {
        let Some(group) = self.group(thread) else {
            return;
        };
        group.is_closed = true;
        let (first, is_alone) = (group.members[0], group.members.len() == 1);
        if !is_alone {
            self.coarsen_object(self.names.end(first), Coarsening::Distinguished);
        }
    }

    /// Records that the running thread joins a thread.
    #[cold]
    pub(crate) fn join_twin(&mut self, thread: ThreadId) {
        let running = self.running;
        let last = self.threads[running.index()].life.last;
        let is_parent = self.names.parent(thread) == running;
        let Some(group) = self.group(thread) else {
            return;
        };
        let is_together = group.joined == 0 || group.joined_after == last;
        group.joined += 1;
        group.joined_after = last;
        let (first, are_all) = (group.members[0], group.joined == group.members.len());
        if !is_parent || !is_together {
            self.tell_apart(thread);
        } else if are_all {
            let end = self.names.end(first);
            self.names.join_together(end);
        }
    }

    /// Records that the program reads the result of a thread.
    pub(crate) fn read_result(&mut self, thread: ThreadId, result: u64) {
        let Some(group) = self.group(thread) else {
            return;
        };
        if *group.result.get_or_insert(result) != result {
            self.tell_apart(thread);
        }
    }

    /// Records that a thread has ended.
    #[cold]
    pub(crate) fn end_twin(&mut self, thread: ThreadId, has_panicked: bool) {
        if has_panicked {
            self.tell_apart(thread);
        }
        self.check_joins(thread, |_, group| group.is_partly_joined());
    }

    /// Tells apart the children in the groups for which `is_wrong` holds.
    fn check_joins(&mut self, parent: ThreadId, is_wrong: impl Fn(&Names, &Group) -> bool) {
        let Some(kin) = &self.threads[parent.index()].life.kin else {
            return;
        };
        let wrong = kin.groups.iter();
        let wrong = wrong.filter(|group| is_wrong(&self.names, group));
        let wrong: Vec<ThreadId> = wrong.map(|group| group.members[0]).collect();
        for first in wrong {
            self.tell_apart(first);
        }
    }

    /// Checks at the end of an execution whether its threads have told twins apart. If a thread
    /// waits for a twin for ever, it is unknown whether it would have joined the others, too, unless
    /// it joins all its children, or has joined all of these twins in another execution. (This
    /// assumes that plain memory which a twin has written does not decide about it.)
    pub(crate) fn tells_twins_apart(&mut self, outcome: Outcome) -> bool {
        if outcome == Outcome::Failed {
            return false;
        }
        for parent in self.life.started.clone() {
            let life = &self.threads[parent.index()].life;
            let last = life.last;
            let joins_all = life.kin.as_ref().is_some_and(|kin| kin.joins_all);
            let waits = match (&self.life.pending[parent.index()], life.wait) {
                (Pending::Waiting(_), Some(Wait::Join(thread))) if !joins_all => Some(thread),
                _ => None,
            };
            self.check_joins(parent, |names, group| {
                let waits = waits.is_some_and(|thread| group.members.contains(&thread));
                let has_gone_on = group.is_partly_joined() && group.joined_after != last;
                let may_go_on = group.joined + 1 < group.members.len()
                    && !names.are_joined_together(names.end(group.members[0]));
                has_gone_on || waits && may_go_on
            });
        }
        self.is_coarsened()
    }
}
