//! The await rule for machine code: a thread that comes back to a place that reads, with the same registers
//! and the same stack, and without an effect in between, goes round in vain. It stops there: what it reads
//! may change only by others, and the executions in which it reads later are explored anyway.
//!
//! No hint is needed, since every write of the thread is seen: on the stack by comparing it, elsewhere by its
//! hook. The stack is kept only at places to which a thread is known to come back without an effect; when one
//! is met for the first time, the exploration starts again.
//!
//! Frames of the program have bytes that it has not written, as calls left them that were there before. What hooks leave
//! would make the rule depend on how the checker was compiled. So hooks wipe the stack behind them, from the first time that
//! a thread reads or tries again what it has read or tried; loops over many things never end by this rule.

use crate::await_rule::Seen;
use crate::engine::Engine;
use explore::{Bound, Halt};
use report::Shortcut;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The registers that calls preserve, as a hook saved them on the stack, below the return address. Above it is
/// the frame of the program.
#[repr(C)]
#[derive(Debug)]
pub struct Frame {
    registers: [usize; 6],
    code: usize,
}

impl Frame {
    /// Where the hook returns to.
    pub fn code(&self) -> usize {
        self.code
    }
}

/// The places that read which a thread came by since its last effect.
#[derive(Default)]
pub(crate) struct Laps {
    visits: Vec<Visit>,
    /// Registers and stack at each visit, where threads come back without an effect. Others are kept for their
    /// memory.
    stacks: Vec<Vec<u8>>,
    /// Whether the thread has changed anything since.
    has_effect: bool,
    /// What it learnt since.
    learnt: Vec<Seen>,
    /// It came back to a place: where in `learnt` that is what it read there before.
    comes_back_to: Option<usize>,
    /// How often it came by each place; counted where that has a bound.
    rounds: FxHashMap<usize, u32>,
    /// What was on its stack before other threads wrote there, since its last effect.
    pub(super) foreign: BTreeMap<usize, u8>,
}

/// The last time that a thread came by a place.
#[derive(Clone, Copy)]
struct Visit {
    code: usize,
    /// What had been learnt before.
    learnt: usize,
}

impl Laps {
    /// The thread begins its life.
    pub(crate) fn begin(&mut self) {
        self.has_effect = true;
        self.learnt.clear();
        self.rounds.clear();
        self.forget_foreign();
        self.comes_back_to = None;
    }

    /// Whether nothing is known since the last effect.
    #[inline(always)]
    pub(super) fn is_beginning(&self) -> bool {
        self.has_effect
    }

    /// The thread writes to its own stack, which is compared when it comes back to a place.
    #[inline(always)]
    pub(crate) fn write_own(&mut self, address: usize, length: usize) {
        if !self.foreign.is_empty() {
            self.overwrite(address, length);
        }
    }

    /// The thread changed something.
    #[inline(always)]
    pub(crate) fn take_effect(&mut self) {
        self.has_effect = true;
    }

    /// Becomes like the other.
    #[inline]
    pub(crate) fn copy(&mut self, other: &Laps) {
        self.has_effect = other.has_effect;
        // Who had an effect last has nothing to come back to.
        if !other.has_effect {
            self.visits.clear();
            // There are few, for which a call costs more than a loop.
            other
                .visits
                .iter()
                .for_each(|&visit| self.visits.push(visit));
            for (visit, stack) in other.stacks.iter().take(other.visits.len()).enumerate() {
                self.keep_stack(visit, stack);
            }
            if !self.learnt.is_empty() || !other.learnt.is_empty() {
                self.learnt.clone_from(&other.learnt);
            }
        }
        self.comes_back_to = other.comes_back_to;
        if !self.rounds.is_empty() || !other.rounds.is_empty() {
            self.rounds.clone_from(&other.rounds);
        }
        if !self.foreign.is_empty() || !other.foreign.is_empty() {
            self.foreign.clone_from(&other.foreign);
        }
    }

    /// The thread learns something; whether it has read or tried the same thing at the same place before.
    pub(crate) fn learn(&mut self, seen: Seen) -> bool {
        let before = self.comes_back_to.take();
        let before = before.and_then(|start| self.learnt.get(start));
        let is_retry = before.is_some_and(|before| before.is_about_the_same(seen));
        self.learnt.push(seen);
        is_retry
    }
}

/// What is to be done with a thread that comes by.
enum Lap {
    GoesOn,
    /// It came back without an effect, where that is not known to happen.
    IsLoop,
    /// In vain; it learnt this since.
    Vain(usize),
    TooMany,
}

impl Engine {
    /// The thread that runs comes by a place that reads. True if it stops there.
    ///
    /// # Safety
    ///
    /// The frame is at the top of the program's part of the stack of the thread that runs.
    #[inline(always)]
    pub(crate) unsafe fn stops_by(&mut self, frame: *const Frame) -> bool {
        // SAFETY: as promised by the caller.
        if self.native.is_simple && self.visits(unsafe { (*frame).code() }) {
            return false;
        }
        let top = self.stack_top();
        let unroll = self.config.native.and_then(|native| native.unroll);
        // SAFETY: the stack from the frame to its top is initialised as far as a comparison goes, and nobody
        // writes to it meanwhile.
        let (code, stack) = unsafe {
            let length = top - frame.addr();
            let stack = std::slice::from_raw_parts(frame.cast::<u8>(), length);
            ((*frame).code, stack)
        };
        // All threads know at once what one of them met, or an execution would depend on those before.
        let is_loop = self.is_loop(code);
        match self.thread().laps.come_by((code, is_loop), stack, unroll) {
            Lap::IsLoop | Lap::Vain(_) if self.config.without.contains(&Shortcut::AwaitRule) => {
                false
            }
            Lap::GoesOn => false,
            Lap::IsLoop => {
                self.meet_loop(code);
                false
            }
            Lap::Vain(start) => {
                self.meet_retry();
                let thread = self.thread();
                thread.round.learnt(&thread.laps.learnt[start..]);
                self.halt(Halt::Await);
                true
            }
            Lap::TooMany => {
                self.halt(Halt::Bound(Bound::Unroll));
                true
            }
        }
    }

    /// Whether threads come back to this place without an effect.
    #[inline(always)]
    fn is_loop(&self, code: usize) -> bool {
        self.names.has_loops() && self.names.is_loop(code as u64)
    }

    /// The thread that runs comes by a place that reads; whether it was not there since its last effect, and nothing
    /// else has to be known of it. Then that is noted, without asking for memory.
    #[inline(always)]
    pub(super) fn visits(&mut self, code: usize) -> bool {
        match self.names.has_loops() {
            true => self.visits_outside_loops(code),
            false => self.thread().laps.visits(code),
        }
    }

    #[inline(never)]
    fn visits_outside_loops(&mut self, code: usize) -> bool {
        !self.is_loop(code) && self.thread().laps.visits(code)
    }

    /// A thread reads or tries the same thing again. The executions so far have compared what hooks left, too.
    pub(crate) fn meet_retry(&mut self) {
        if !self.names.has_retries() {
            self.names.meet_retry();
            self.is_coarsened = true;
        }
    }

    /// The executions so far did not stop threads here.
    #[cold]
    fn meet_loop(&mut self, code: usize) {
        self.names.meet_loop(code as u64);
        self.watch.reads = true;
        self.is_coarsened = true;
    }
}

impl Laps {
    fn come_by(
        &mut self,
        (code, is_loop): (usize, bool),
        stack: &[u8],
        unroll: Option<u32>,
    ) -> Lap {
        self.forget_before_effect();
        if unroll.is_some_and(|most| self.counts_more(code, most)) {
            return Lap::TooMany;
        }
        let stack = &*self.known(stack);
        let back = self.visits.iter().position(|visit| visit.code == code);
        if back.is_some() && !is_loop {
            return Lap::IsLoop;
        }
        if let Some(back) = back
            && self.stacks.get(back).is_some_and(|kept| kept == stack)
        {
            return Lap::Vain(self.visits[back].learnt);
        }
        let learnt = self.learnt.len();
        self.comes_back_to = back.map(|back| self.visits[back].learnt);
        if is_loop {
            self.keep_stack(back.unwrap_or(self.visits.len()), stack);
        }
        match back {
            Some(back) => self.visits[back].learnt = learnt,
            None => self.visits.push(Visit { code, learnt }),
        }
        Lap::GoesOn
    }

    /// The stack as far as the thread knows it.
    #[inline(always)]
    fn known<'s>(&self, stack: &'s [u8]) -> Cow<'s, [u8]> {
        if self.foreign.is_empty() {
            return Cow::Borrowed(stack);
        }
        let mut known = stack.to_vec();
        self.as_known(stack.as_ptr().addr(), &mut known);
        Cow::Owned(known)
    }

    #[inline(always)]
    fn forget_before_effect(&mut self) {
        if self.has_effect {
            self.has_effect = false;
            self.visits.clear();
            self.learnt.clear();
            self.forget_foreign();
            self.comes_back_to = None;
        }
    }

    /// Mostly there is nothing.
    #[inline(always)]
    fn forget_foreign(&mut self) {
        if !self.foreign.is_empty() {
            self.forget_what_is_foreign();
        }
    }

    #[cold]
    #[inline(never)]
    fn forget_what_is_foreign(&mut self) {
        self.foreign.clear();
    }

    /// Notes a visit if it is the first one and there is room.
    #[inline(always)]
    fn visits(&mut self, code: usize) -> bool {
        self.forget_before_effect();
        let is_known = self.visits.iter().any(|visit| visit.code == code);
        if is_known || self.visits.len() == self.visits.capacity() {
            return false;
        }
        let learnt = self.learnt.len();
        self.visits.push(Visit { code, learnt });
        self.comes_back_to = None;
        true
    }

    fn keep_stack(&mut self, visit: usize, stack: &[u8]) {
        if self.stacks.len() <= visit {
            self.stacks.resize_with(visit + 1, Vec::new);
        }
        self.stacks[visit].clear();
        self.stacks[visit].extend_from_slice(stack);
    }

    fn counts_more(&mut self, code: usize, most: u32) -> bool {
        let rounds = self.rounds.entry(code).or_default();
        *rounds += 1;
        *rounds > most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use explore::{ObjectId, Token};

    const CODE: usize = 7;

    /// What the thread learns at each visit of one place: whether it is told to have tried again.
    fn retries(read: &[u32]) -> Vec<bool> {
        let mut laps = Laps::default();
        laps.begin();
        let visits = read.iter().enumerate();
        let told = visits.map(|(round, &object)| {
            let stack = [u8::try_from(round).unwrap()];
            laps.come_by((CODE, true), &stack, None);
            laps.learn(Seen::Value(ObjectId(object), Token::default()))
        });
        told.collect()
    }

    #[test]
    fn a_thread_that_reads_the_same_thing_again_at_one_place_tries_again() {
        assert_eq!(retries(&[1, 1, 1]), [false, true, true]);
    }

    #[test]
    fn a_loop_over_many_things_is_no_retry() {
        assert_eq!(retries(&[1, 2, 3]), [false, false, false]);
    }
}
