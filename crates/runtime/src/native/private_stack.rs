//! Stacks that only their own threads access, in programs where plain accesses are events.
//!
//! An access to memory that no other thread ever accesses commutes with all operations of other
//! threads. So plain accesses to a thread's own stack are parts of the previous step, as spawns and
//! waits are, until another thread accesses that stack in any execution. From then on they are
//! events (a coarsening: the search starts again). Where the verified behaviour is to be enforced,
//! all accesses are events, because the set of events must not depend on findings of a search.

use super::Written;
use super::foreign::may_be_stack;
use crate::config::Config;
use crate::engine::Engine;
use crate::engine::granularity::StepGranularity;
use crate::engine::names::Range;
use explore::{Access, Bound, Halt, ObjectId, Op, OpKind, Pending, Request, ThreadId};
use objects::Coarsening;
use report::Shortcut;

impl super::State {
    /// Returns whether plain accesses to all stacks are events from the start.
    pub(crate) fn are_stacks_events(&self, config: &Config) -> bool {
        // A private access belongs to the step before it, as a spawn does. So stacks are private
        // only if both shortcuts are in use.
        let without = &config.without;
        let is_off =
            without.contains(&Shortcut::PrivateStacks) || without.contains(&Shortcut::FoldedSpawns);
        config.native.is_some() && !self.is_raced && (config.conditions.is_enforceable || is_off)
    }
}

impl Engine {
    /// Returns whether the stack of the starting thread is private.
    pub(crate) fn begins_with_private_stack(&mut self, id: ThreadId) -> bool {
        let native = &self.guests.native;
        if self.config.native.is_none() || native.is_raced || native.are_stacks_events(&self.config)
        {
            return false;
        }
        if self.guests.native.are_stacks_shared {
            self.names.coarsen(self.names.end(id), Coarsening::Shared);
        }
        !self.names.is_coarse(self.names.end(id), Coarsening::Shared)
    }

    /// Returns whether this memory is on the running thread's stack, and the stack is private.
    #[inline(always)]
    pub(crate) fn is_on_private_stack(&mut self, address: usize, length: usize) -> bool {
        let thread = self.thread();
        let fibre = &thread.fibre;
        thread.guests.has_private_stack
            && fibre.lowest() <= address
            && address + length <= fibre.base()
    }

    /// Records an access by the running thread to its private stack. Returns whether the thread
    /// continues at once.
    pub(super) fn accesses_privately(&mut self, kind: OpKind, code: usize) -> bool {
        self.thread().life.code = code;
        let op = Op {
            kind,
            access: Access::None,
            object: ObjectId::NONE,
        };
        let index = self.running.index();
        if self.granularity == StepGranularity::Operations {
            self.life.pending[index] = Pending::Enabled(self.after_yield(Request::plain(op)));
            return false;
        }
        let continues = self.begin_private_access();
        if !continues {
            self.halt(Halt::Bound(Bound::Events));
        }
        continues
    }

    /// Counts an access by the running thread to its private stack as part of the current step.
    /// Returns false if the access exceeds the limit of operations.
    #[inline(always)]
    pub(super) fn begin_private_access(&mut self) -> bool {
        let most = self.config.conditions.max_events;
        let thread = self.thread();
        let continues = thread.life.operations < most;
        thread.life.operations += u32::from(continues);
        continues
    }

    /// If the current plain write is a step but not an event, arranges that it is recorded after
    /// the program has performed it. Also passes the write to the audit, if there is one.
    pub(super) fn record_private_write(&mut self, address: usize, length: usize) {
        if self.watch.audits && !self.races_plain() {
            self.audit_access(address, length, true);
        }
        if self.granularity == StepGranularity::Operations && !self.races_plain() {
            self.guests.native.written = Some(Written {
                address,
                length,
                range: Range {
                    start: address as u64,
                    length: length as u32,
                    object: ObjectId::NONE,
                    is_merged: false,
                },
            });
        }
    }

    /// Records that the running thread accesses memory, which may be another thread's stack.
    #[inline(always)]
    pub(crate) fn accesses_stack(&mut self, address: usize, length: usize) {
        if may_be_stack(address) {
            self.shares_stack(address, length);
        }
    }

    /// If this memory is on another thread's stack, records that the running thread shares it.
    /// Where plain accesses are interleaved, plain accesses to that stack become events.
    #[cold]
    fn shares_stack(&mut self, address: usize, length: usize) {
        let owner = self.owner_of_stack(address);
        let Some(owner) = owner.filter(|&owner| owner != self.running) else {
            return;
        };
        self.shares_locals(owner, address, length);
        if self.races_plain() {
            return;
        }
        if !self.threads[owner.index()].guests.has_private_stack {
            return;
        }
        let executions = self.guests.savepoints.repeated;
        if !self.is_coarsened() && self.guests.native.ownership.restart(executions) {
            self.guests.native.are_stacks_shared = true;
        }
        self.threads[owner.index()].guests.has_private_stack = false;
        // A write is an event now, so a function's first write to its frame shows what hooks have
        // left there.
        self.wipe_stacks();
        self.coarsen_object(self.names.end(owner), Coarsening::Shared);
    }
}
