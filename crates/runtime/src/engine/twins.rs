//! Recognizes *twins*: threads that their parent starts with the same code and equal captures, and
//! without an event in between. A search may explore them up to permutation ([`explore::Symmetric`])
//! until the program tells them apart: it uses the identity of a twin, or its parent does not join
//! all of them together. Then they no longer count as twins ([`Coarsening::Distinguished`]), and the
//! search starts again.

use crate::engine::Engine;
use crate::engine::guest::Guest;
use crate::engine::kin::{Code, Group};
use crate::engine::names::Names;
use crate::guests::{Guests, Wait};
use explore::{Pending, ThreadId};
use objects::Coarsening;

impl Engine {
    /// Records the code of the next child of the running thread.
    pub(crate) fn will_run(&mut self, code: Code) {
        let kin = &mut self.thread().life.kin;
        kin.get_or_insert_default().code_of_child = Some(code);
    }

    /// Records that the running thread joins these threads and does nothing else. This says
    /// something about twins only if the threads include all twins that are not joined, and no
    /// group is partly joined.
    #[inline]
    pub(crate) fn begin_joining(&mut self, threads: &[ThreadId]) {
        if let Some(kin) = &mut self.thread().life.kin {
            let mut open = kin.groups.iter().filter(|group| group.is_open());
            kin.joins_all = open.all(|group| {
                let mut members = group.members.iter();
                group.joined == 0 && members.all(|member| threads.contains(member))
            });
        }
    }

    /// Records that the running thread has joined the threads.
    #[inline]
    pub(crate) fn end_joining(&mut self) {
        if let Some(kin) = &mut self.thread().life.kin {
            kin.joins_all = false;
        }
    }

    /// Finds the twin of a thread that the running thread has just started with this stack size, or
    /// with the usual one if it is 0.
    #[cold]
    pub(crate) fn find_twin(&mut self, child: ThreadId, stack: usize) {
        self.tell_apart(self.running);
        self.check_joins(self.running, |_, group| group.is_partly_joined());
        let is_named = self.threads[child.index()].life.name.is_some();
        let parent = &mut self.threads[self.running.index()].life;
        let after = parent.last;
        let others = parent.operations - parent.children;
        let Some(kin) = &mut parent.kin else {
            return;
        };
        let Some(code) = kin.code_of_child.take() else {
            return;
        };
        if is_named || stack > 0 || self.late.is_some() {
            return;
        }
        let names = &self.names;
        let is_of = |group: &Group| {
            let end = names.end(group.members[0]);
            (&group.code, group.after, group.others) == (&code, after, others)
                && group.joined == 0
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
                let mut known = kin.groups.iter();
                differs_from = known
                    .find(|group| group.code.may_be(&code))
                    .map(|group| group.members[0]);
                kin.groups.push(Group {
                    code,
                    members: vec![child],
                    after,
                    others,
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

    /// Joins a thread that may have twins. A thread without twins counts as joined immediately.
    /// Twins count as joined only when the parent has joined all of them: until then, the parent
    /// must not access what they have written.
    #[cold]
    pub(crate) fn join_twin(&mut self, thread: ThreadId) {
        let running = self.running;
        let last = self.threads[running.index()].life.last;
        let is_parent = self.names.parent(thread) == running;
        let is_over = self.has_outlived();
        let mut now = vec![thread];
        if let Some(group) = self.group(thread)
            && !is_over
        {
            let is_together = group.joined == 0 || group.joined_after == last;
            group.joined += 1;
            group.joined_after = last;
            let are_all = group.joined == group.members.len();
            let (first, is_first_event) = (group.members[0], group.after.is_none());
            if !is_parent || !is_together {
                self.tell_apart(thread);
            } else if are_all {
                now.clone_from(&group.members);
                if is_first_event && last.is_none() {
                    let end = self.names.end(first);
                    self.names.join_together(end);
                }
            } else {
                now.clear();
            }
        }
        for thread in now {
            Guests::join(self, thread);
        }
    }

    /// Checks whether the running thread has ended and only waits for the other threads.
    fn has_outlived(&self) -> bool {
        let kin = &self.threads[self.running.index()].life.kin;
        kin.as_ref().is_some_and(|kin| kin.is_over)
    }

    /// Records that the running thread, which is the main thread, has ended, and from now on only
    /// waits for the other threads before it runs the exit handlers.
    pub(crate) fn outlive_twins(&mut self) {
        if let Some(kin) = &mut self.thread().life.kin {
            kin.is_over = true;
        }
    }

    /// Checks whether two accesses may only seem to race, because one of the threads has joined
    /// some twins and not yet the others. If so, these twins are told apart.
    #[cold]
    pub(crate) fn tells_apart_by_race(&mut self, threads: [ThreadId; 2]) -> bool {
        let mut tells_apart = false;
        for thread in threads {
            tells_apart |= self.check_joins(thread, |_, group| group.is_partly_joined());
        }
        tells_apart
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

    /// Tells apart the children in the groups for which `is_wrong` holds. Returns whether there are
    /// any.
    fn check_joins(&mut self, parent: ThreadId, is_wrong: impl Fn(&Names, &Group) -> bool) -> bool {
        let Some(kin) = &self.threads[parent.index()].life.kin else {
            return false;
        };
        let wrong = kin.groups.iter();
        let wrong = wrong.filter(|group| is_wrong(&self.names, group));
        let wrong: Vec<ThreadId> = wrong.map(|group| group.members[0]).collect();
        for &first in &wrong {
            self.tell_apart(first);
        }
        !wrong.is_empty()
    }

    /// Checks at the end of an execution whether a parent has told twins apart by joining only some
    /// of them. If the parent waits forever for a twin, it is unknown whether it would have joined
    /// the others, so the twins count as told apart. There are three exceptions: no other twin is
    /// left to join; the parent is joining all of its twins (`joins_all`); or it has performed no
    /// event, and in another execution joined these twins together before its first event. (The
    /// last exception assumes that plain memory does not decide which threads are joined.)
    pub(crate) fn tells_twins_apart(&mut self) -> bool {
        for parent in self.life.started.clone() {
            let life = &self.threads[parent.index()].life;
            let last = life.last;
            let joins_all = life.kin.as_ref().is_some_and(|kin| kin.joins_all);
            let waits_for = match (&self.life.pending[parent.index()], life.wait) {
                (Pending::Waiting(_), Some(Wait::Join(thread))) => Some(thread),
                _ => None,
            };
            self.check_joins(parent, |names, group| {
                let waits = waits_for.is_some_and(|thread| group.members.contains(&thread));
                if !waits || group.joined > 0 && group.joined_after != last {
                    return group.is_partly_joined();
                }
                let is_known =
                    last.is_none() && names.are_joined_together(names.end(group.members[0]));
                !joins_all && !is_known && group.joined + 1 < group.members.len()
            });
        }
        self.is_coarsened()
    }
}
