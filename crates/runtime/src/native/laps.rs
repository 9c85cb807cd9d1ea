//! The await rule for machine code: a thread that comes back to a place that reads, with the same registers
//! and the same stack, and without an effect in between, goes round in vain. It stops there: what it reads
//! may change only by others, and the executions in which it reads later are explored anyway.
//!
//! No hint is needed, since every write of the thread is seen: on the stack by comparing it, elsewhere by its
//! hook. The stack is kept only at places to which a thread is known to come back without an effect; when one
//! is met for the first time, the exploration starts again.

use crate::await_rule::Seen;
use crate::engine::Engine;
use explore::{Bound, Halt};
use rustc_hash::FxHashMap;

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
    /// The first `count` are of this time; others are kept for their memory.
    visits: Vec<Visit>,
    count: usize,
    /// Whether the thread has changed anything since.
    has_effect: bool,
    /// What it learnt since.
    learnt: Vec<Seen>,
    /// How often it came by each place; counted where that has a bound.
    rounds: FxHashMap<usize, u32>,
}

/// The last time that a thread came by a place.
#[derive(Default)]
struct Visit {
    code: usize,
    /// Registers and stack; kept where threads come back without an effect.
    stack: Vec<u8>,
    /// What had been learnt before.
    learnt: usize,
}

impl Laps {
    /// The thread begins its life.
    pub(crate) fn begin(&mut self) {
        self.has_effect = true;
        self.learnt.clear();
        self.rounds.clear();
    }

    /// The thread changed something.
    #[inline(always)]
    pub(crate) fn take_effect(&mut self) {
        self.has_effect = true;
    }

    /// Becomes like the other.
    pub(crate) fn copy(&mut self, other: &Laps) {
        if self.visits.len() < other.count {
            self.visits.resize_with(other.count, Visit::default);
        }
        for (visit, other) in self.visits.iter_mut().zip(&other.visits[..other.count]) {
            visit.code = other.code;
            visit.learnt = other.learnt;
            visit.stack.clear();
            visit.stack.extend_from_slice(&other.stack);
        }
        self.count = other.count;
        self.has_effect = other.has_effect;
        self.learnt.clear();
        self.learnt.extend_from_slice(&other.learnt);
        if !self.rounds.is_empty() || !other.rounds.is_empty() {
            self.rounds.clone_from(&other.rounds);
        }
    }

    pub(crate) fn learn(&mut self, seen: Seen) {
        self.learnt.push(seen);
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
            Lap::GoesOn => false,
            Lap::IsLoop => {
                self.meet_loop(code);
                false
            }
            Lap::Vain(start) => {
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
    pub(crate) fn passes(&mut self, code: usize) -> bool {
        !self.is_loop(code) && self.thread().laps.visit_simply(code)
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
        let visits = &mut self.visits[..self.count];
        let back = visits.iter_mut().find(|visit| visit.code == code);
        if back.is_some() && !is_loop {
            return Lap::IsLoop;
        }
        if let Some(back) = &back
            && back.stack == stack
        {
            return Lap::Vain(back.learnt);
        }
        let learnt = self.learnt.len();
        let visit = match back {
            Some(back) => back,
            None => self.visit_for_the_first_time(code),
        };
        visit.stack.clear();
        if is_loop {
            visit.stack.extend_from_slice(stack);
        }
        visit.learnt = learnt;
        Lap::GoesOn
    }

    #[inline(always)]
    fn forget_before_effect(&mut self) {
        if self.has_effect {
            self.has_effect = false;
            self.count = 0;
            self.learnt.clear();
        }
    }

    /// Notes a visit if it is the first one and there is room.
    #[inline(always)]
    fn visit_simply(&mut self, code: usize) -> bool {
        self.forget_before_effect();
        let Laps { visits, count, .. } = self;
        let is_known = visits[..*count].iter().any(|visit| visit.code == code);
        if is_known || *count == visits.len() {
            return false;
        }
        visits[*count].code = code;
        visits[*count].stack.clear();
        visits[*count].learnt = self.learnt.len();
        *count += 1;
        true
    }

    fn visit_for_the_first_time(&mut self, code: usize) -> &mut Visit {
        if self.count == self.visits.len() {
            self.visits.push(Visit::default());
        }
        self.count += 1;
        let visit = &mut self.visits[self.count - 1];
        visit.code = code;
        visit
    }

    fn counts_more(&mut self, code: usize, most: u32) -> bool {
        let rounds = self.rounds.entry(code).or_default();
        *rounds += 1;
        *rounds > most
    }
}
