//! The await rule: a thread whose spin loop makes no progress stops.
//!
//! A thread makes no progress if it returns to an earlier private state and, in between, has only
//! read, failed a try, written values that were already there, or had other effects that do not
//! count (see the table). The thread would repeat this round until another thread changes a value
//! that the round reads. So the thread stops. Executions in which the thread reads later are
//! explored anyway. The values that the round read are kept, and compared at the end of the
//! execution. If one of them has changed by then, the thread is only halted. Otherwise its loop
//! never ends, which is a bug.
//!
//! For all programs, the record of a thread ([`round`]) consists of its visits, its effects and its
//! observations. A *visit* is an arrival of the thread at a point where a round may begin, with the
//! state of the thread there. An *observation* is something that the thread has learnt without
//! changing anything, for example the value of a variable. Two front-ends supply these records. A
//! *hint* is a call by which a Rust program says that it spins (`spin_loop`, `yield_now`).
//!
//! | | Rust programs ([`hints`]) | machine code ([`places`](crate::native)) |
//! | --- | --- | --- |
//! | beginning of a round | a hint | a place that reads, if threads return to it |
//! | state | registers and stack | also arguments of hooks and data of the front-end |
//! | effects that do not count | effects undone before other threads observe them | locks taken and released likewise |
//! | compared memory ([`segment`]) | the heap, to see what is undone | what threads share |
//! | kept visits | the last ones and one older visit | a few for each place |
//!
//! The bound on rounds (`--unroll`) means different things in the two front-ends. At hints, it
//! limits the returns to an earlier state after other threads have observed effects of the round.
//! In machine code, it limits the rounds of a loop, whatever the state (`native::unrolling`).

pub(crate) mod heap_changes;
pub(crate) mod hints;
mod own_token;
pub(crate) mod round;
pub(crate) mod segment;

use crate::engine::Engine;
use crate::watch::seen::Seen;
use crate::watch::undone::is_of_lock;
use explore::{Access, OpKind, ThreadId, ValueId};

impl Engine {
    /// Returns the stack of the running thread from this address on. The result is empty if the
    /// program runs on a stack that it has allocated itself, because that stack is ordinary memory.
    ///
    /// # Safety
    ///
    /// Nothing may write to the stack from this address on while the result is in use.
    pub(crate) unsafe fn stack_from<'a>(&self, start: usize) -> &'a [u8] {
        let fibre = &self.threads[self.running.index()].fibre;
        let top = self.stack_top();
        if !(fibre.lowest()..top).contains(&start) {
            return &[];
        }
        // SAFETY: the bytes of the stack are initialized as far as a comparison of their content
        // needs.
        unsafe { std::slice::from_raw_parts(start as *const u8, top - start) }
    }

    /// Records an observation that the running thread made without changing anything.
    #[cold]
    pub(crate) fn see(&mut self, seen: Seen) {
        if self.config.native.is_some() {
            if self.thread().life.guests.round.learn(seen) {
                self.wipe_stacks();
            }
        } else if self.watch.reads {
            let round = &mut self.thread().life.guests.round;
            let is_own = matches!(seen, Seen::Value(object, _) if round.effects.is_written(object));
            let start = round.visits.last().map_or(0, |visit| visit.seen as usize);
            if !is_own && !round.seen[start..].contains(&seen) {
                round.seen.push(seen);
            }
        }
    }

    /// Records that the running thread's operation has had an effect. This is called by operations
    /// that do not always have one.
    pub(crate) fn take_effect(&mut self) {
        self.thread().life.guests.round.take_effect();
    }

    /// Ends an operation of the running thread. The thread returns to code of the program, which
    /// may reach a hint before the step is over.
    #[cold]
    pub(crate) fn end_effect(&mut self) {
        if self.watch.compares {
            self.compare_after_effect();
        }
        if !self.watch.reads {
            return;
        }
        if self.life.is_in_event && self.config.native.is_none() {
            self.record_effect(self.running);
        }
        self.begin_segment();
    }

    /// Records whether the event of the thread changed anything, once for each event.
    pub(crate) fn record_effect(&mut self, thread: ThreadId) {
        if !self.guests.is_effect_recorded {
            self.guests.is_effect_recorded = true;
            self.watch_effect(thread);
        }
    }

    #[cold]
    fn watch_effect(&mut self, thread: ThreadId) {
        let op = self.op;
        if op.access == Access::Write && self.is_newest() {
            if self.life.values.len() <= op.object.index() {
                self.life.values.resize(op.object.index() + 1, None);
            }
            // The number of the last write identifies the state of an object.
            let state = ValueId(u64::from(self.life.events) + 1);
            let is_state = op.kind == OpKind::ObjectWrite;
            self.life.values[op.object.index()] = Some(if is_state { state } else { self.after });
        }
        if op.kind == OpKind::ObjectRead {
            let value = self.life.values.get(op.object.index()).copied();
            self.see(Seen::Value(op.object, value.flatten().unwrap_or_default()));
        }
        if !self.watch.reads || self.config.native.is_some() {
            return;
        }
        self.record_access(thread);
        self.record_publication(thread);
        let may_change_nothing = match op.kind {
            OpKind::Load
            | OpKind::Fence
            | OpKind::IsFinished
            | OpKind::OnceGet
            | OpKind::MutexTryPlace
            | OpKind::MutexTryResult
            | OpKind::TryRead
            | OpKind::TryWrite
            | OpKind::SemaphoreTryPlace
            | OpKind::SemaphoreTryResult
            | OpKind::SendTryPlace
            | OpKind::SendTryResult
            | OpKind::ReceiveTryPlace
            | OpKind::ReceiveTryResult
            | OpKind::ClosedCheck
            | OpKind::LetterLook
            | OpKind::StateRead
            | OpKind::ObjectRead => true,
            OpKind::CompareExchange | OpKind::Store | OpKind::ReadModifyWrite => {
                if self.before != self.after {
                    self.record_write(thread);
                }
                true
            }
            OpKind::Unpark | OpKind::ParkRequest | OpKind::ParkWait | OpKind::ParkResolve => {
                let round = &self.threads[thread.index()].life.guests.round;
                let is_gift = op.kind == OpKind::Unpark;
                round.token.is_own_affair(op.object, is_gift)
            }
            // Operations on locks are not recorded here: `undone` tracks the locks that the thread
            // holds.
            kind => is_of_lock(kind),
        };
        if !may_change_nothing {
            self.threads[thread.index()].life.guests.round.take_effect();
        }
    }

    /// Checks whether a thread that the await rule halted could continue now: its condition holds,
    /// the thread would observe a different value in its round, or another thread may have changed
    /// data that a lock or a variable of the round guards.
    pub(crate) fn could_continue(&self, id: ThreadId) -> bool {
        let thread = &self.threads[id.index()];
        if let Some(condition) = thread.life.guests.condition {
            return condition.holds;
        }
        let mut seen = thread.life.guests.round.seen.iter();
        seen.any(|&seen| !self.is_still(seen)) || self.is_overtaken(id)
    }
}
