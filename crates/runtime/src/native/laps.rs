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

/// The places that read which a thread came by.
#[derive(Default)]
pub(crate) struct Laps {
    /// How often the thread changed anything, in all executions.
    effects: u64,
    visits: FxHashMap<usize, Visit>,
    /// What it learnt since its last effect.
    learnt: Vec<Seen>,
    /// `effects` when the first of that was learnt.
    since: u64,
    /// Which life of the thread this is.
    life: u64,
}

/// The last time that a thread came by a place.
#[derive(Default)]
struct Visit {
    effects: u64,
    /// Registers and stack; kept where threads come back without an effect.
    stack: Vec<u8>,
    /// What had been learnt before.
    learnt: usize,
    /// How often it came by in this life.
    count: u32,
    life: u64,
}

impl Laps {
    /// The thread begins its life.
    pub(crate) fn begin(&mut self) {
        self.effects += 1;
        self.life += 1;
        self.learnt.clear();
    }

    /// The thread changed something.
    #[inline(always)]
    pub(crate) fn take_effect(&mut self) {
        self.effects += 1;
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
        let is_loop = self.names.is_loop(code as u64);
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
        let effects = self.effects;
        if self.since != effects {
            self.since = effects;
            self.learnt.clear();
        }
        let visit = self.visits.entry(code).or_default();
        if visit.life != self.life {
            visit.life = self.life;
            visit.count = 0;
        }
        visit.count += 1;
        if unroll.is_some_and(|most| visit.count > most) {
            return Lap::TooMany;
        }
        let is_back = visit.effects == effects;
        visit.effects = effects;
        if is_back && !is_loop {
            return Lap::IsLoop;
        }
        if is_loop {
            if is_back && visit.stack == stack {
                return Lap::Vain(visit.learnt);
            }
            visit.stack.clear();
            visit.stack.extend_from_slice(stack);
            visit.learnt = self.learnt.len();
        }
        Lap::GoesOn
    }
}
