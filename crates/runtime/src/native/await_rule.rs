//! The await rule for machine code. A thread makes no progress if it returns to a place that reads,
//! and everything that it can still read is unchanged since an earlier visit. The thread stops
//! there. Only other threads can change the values that it reads, and the executions in which it
//! reads later are explored anyway.
//!
//! A thread can read its registers and stack, its data in the front-end (`errno`, random numbers,
//! …), and memory. All but memory are saved at each visit of a place to which threads are known to
//! return (`visits`). When a place of this kind is first found, the exploration starts again.
//! Memory is shared, so each change of it is an effect, after which earlier visits do not count:
//! `segment` finds changes by comparing values. A write of the value that is already there is not
//! an effect, but remains a write for the search.
//!
//! Until the thread reaches one of those places, each write that a hook reports counts as an
//! effect. A loop whose writes change nothing is found by counting its rounds.
//!
//! Comparing memory costs more than the rest. So a place to which threads return begins as a
//! *loop*, where registers and stack are saved. It becomes a *spin loop* when a thread is found
//! there in the state of an earlier visit, or after many rounds without a sure effect. Memory is
//! compared only for spin loops, and threads stop only there. The exploration starts again each
//! time that a loop or spin loop is found.
//!
//! The program's frames contain bytes that it has not written, but that earlier calls left there.
//! If some of them came from hooks, the rule would depend on how the checker was compiled. So hooks
//! wipe the stack below them, once a thread has repeated a read or a try. This rule does not stop
//! loops over many objects.

use super::visits::{Place, RoundResult};
use crate::engine::Engine;
use crate::engine::control_words::ControlWords;
use crate::engine::names::MOST_COMPARED;
use crate::watch::seen::Seen;
use explore::{Bound, Halt};
use report::{Restart, Shortcut};
use std::ops::Range;
use std::sync::atomic::AtomicBool;

/// The call-preserved registers, saved on the stack by a hook, and the return address above them.
/// The program's frame lies above the return address.
#[repr(C)]
#[derive(Debug)]
pub struct Frame {
    registers: [usize; 6],
    code: usize,
}

impl Frame {
    /// Returns the address to which the hook returns.
    pub fn code(&self) -> usize {
        self.code
    }
}

/// Addresses and values passed to a hook by the program, which may have no other copy of them.
#[derive(Clone, Copy)]
pub(crate) enum Given {
    All([u128; 3]),
    /// The other values are unknown. Such values may derive from dead values, so dead values are
    /// compared, too.
    Part([u128; 3]),
}

/// Whether the running thread has called a function with unknown effects.
pub static HAS_CALLED_UNKNOWN: AtomicBool = AtomicBool::new(false);

/// The number of operations in one execution after which a thread may be in a loop whose writes
/// change nothing.
const MANY_OPERATIONS: u32 = 32;

impl Engine {
    /// Records that the running thread passes a place that reads. Returns whether the thread stops
    /// there.
    ///
    /// # Safety
    ///
    /// The frame must be at the top of the program's part of the running thread's stack.
    #[inline(always)]
    pub(crate) unsafe fn stops_by(
        &mut self,
        frame: *const Frame,
        is_event: bool,
        given: Given,
    ) -> bool {
        // SAFETY: as promised by the caller.
        let code = unsafe { (*frame).code };
        if self.native.is_simple && self.visits(code) {
            if is_event && self.thread().life.operations >= MANY_OPERATIONS {
                self.counts_round(code);
            }
            return false;
        }
        // SAFETY: as promised by the caller.
        unsafe { self.stops_in_round(frame, is_event, given) }
    }

    /// # Safety
    ///
    /// The conditions are those of [`Engine::stops_by`].
    #[inline(never)]
    unsafe fn stops_in_round(&mut self, frame: *const Frame, is_event: bool, given: Given) -> bool {
        // SAFETY: as promised by the caller.
        let code = unsafe { (*frame).code };
        let unroll = self.config.conditions.unroll;
        // A recursion passes the place deeper each time; copies of its stack would fill all memory.
        if unroll.is_none() && self.stack_top() - frame.addr() > MOST_COMPARED {
            return false;
        }
        // All threads use a finding at once, so that no execution depends on earlier executions.
        let place = Place {
            code,
            is_loop: self.is_loop(code),
            is_spin: self.names.is_spin(code as u64),
            is_event,
        };
        if place.is_loop {
            self.compares_stack_from(frame.addr());
        }
        if is_event && !place.is_spin && self.thread().life.operations >= MANY_OPERATIONS {
            self.counts_round(code);
        }
        // The changes of a thread are recorded when it is suspended. Record them here as well, so
        // that switches make no difference.
        self.note_changes();
        self.thread().life.visits.forget_before_effect();
        // A copy of memory from before the thread's last effect is useless.
        if !self.thread().life.visits.is_watched() {
            self.native.segment.forget();
        }
        let mut state = std::mem::take(&mut self.native.state);
        state.clear();
        let mut raw = None;
        if place.is_loop {
            // SAFETY: as promised by the caller.
            unsafe { self.copy_state(frame, given, &mut state) };
            raw = matches!(given, Given::All(_)).then(|| frame.addr());
            if let Some(start) = raw.take_if(|_| self.thread().life.visits.knows(code)) {
                self.clear_dead(place, start, &mut state);
            }
        }
        let is_cut = unroll.is_some_and(|most| {
            let length = self.stack_top() - frame.addr();
            // SAFETY: the stack from the frame to its top is initialised as far as a comparison
            // needs, and is not written meanwhile.
            let stack = unsafe { std::slice::from_raw_parts(frame.cast::<u8>(), length) };
            self.thread().life.visits.rounds.count(code, stack, most)
        });
        let mut result = match is_cut {
            true => RoundResult::TooMany,
            false => self
                .thread()
                .life
                .visits
                .record_visit(place, raw, &mut state),
        };
        if matches!(result, RoundResult::NoProgress(_)) && !self.native.segment.is_known() {
            let visits = &mut self.thread().life.visits;
            visits.take_effect();
            visits.forget_before_effect();
            result = visits.record_visit(place, raw, &mut state);
        }
        self.native.state = state;
        match result {
            RoundResult::Changed => false,
            RoundResult::IsLoop => {
                self.meet_loop(code);
                false
            }
            RoundResult::IsSpin => {
                self.meet_spin(code);
                false
            }
            RoundResult::NoProgress(start) => {
                self.wipe_stacks();
                let live = frame.addr() + size_of::<Frame>();
                let learnt = self.learnt_since(start, live);
                self.thread().life.round.learnt(&learnt);
                self.halt(Halt::Await);
                true
            }
            RoundResult::TooMany => {
                self.halt(Halt::Bound(Bound::Unroll));
                true
            }
        }
    }

    /// Records that the stack of the running thread is compared from this address on. If the address
    /// is deeper than expected, savepoints have restored less of the stack so far.
    fn compares_stack_from(&mut self, address: usize) {
        let thread = self.running;
        // A program may run on a stack of its own, which is memory like any other.
        let depth = self.thread().fibre.base().checked_sub(address);
        let depth = depth.filter(|&depth| depth <= MOST_COMPARED).unwrap_or(0);
        if depth > self.names.compared_depth(thread) {
            self.names.compare_to_depth(thread, depth);
            self.coarsen(Restart::DeepStacks);
        }
    }

    /// Returns the running thread's observations since the index `start` that other threads can
    /// change. For its own stack, these are the bytes that other threads have written, and the
    /// bytes that are as the thread has read them. (Bytes that the thread has overwritten itself
    /// are written again in the next round.) Ended frames, which hooks overwrite, are below `live`.
    fn learnt_since(&self, start: usize, live: usize) -> Vec<Seen> {
        let visits = &self.threads[self.running.index()].life.visits;
        let can_change = |seen: &Seen| {
            let &Seen::Memory {
                address, length, ..
            } = seen
            else {
                return true;
            };
            if self.owner_of_stack(address) != Some(self.running) {
                return true;
            }
            let is_foreign =
                |range: &Range<usize>| range.start < address + length && address < range.end;
            let is_by_others = visits.written_by_others.iter().any(is_foreign);
            address >= live && (is_by_others || self.is_still(*seen))
        };
        let learnt = visits.learnt[start..].iter().copied();
        learnt.filter(can_change).collect()
    }

    /// Appends the private state of the running thread to `state`: registers, its stack as far as
    /// the thread has observed it and may read it, the arguments of the hook, and the thread's data
    /// in the front-end.
    ///
    /// # Safety
    ///
    /// The conditions are those of [`Engine::stops_by`].
    unsafe fn copy_state(&mut self, frame: *const Frame, given: Given, state: &mut Vec<u8>) {
        let start = frame.addr();
        let length = self.stack_top() - start;
        // SAFETY: the stack from the frame to its top is initialised as far as a comparison needs,
        // and is not written meanwhile.
        state.extend_from_slice(unsafe { std::slice::from_raw_parts(frame.cast(), length) });
        self.thread().life.visits.as_known(start, state);
        if let Some(native) = self.config.native {
            let (Given::All(words) | Given::Part(words)) = given;
            state.extend_from_slice(words.map(u128::to_ne_bytes).as_flattened());
            state.extend_from_slice(&ControlWords::now().bytes());
            native.memory.tell(self.running, state);
        }
    }

    /// Clears the dead parts in the state of a thread that has returned to a place, and in the
    /// state of its first visit. Before a thread returns there is nothing to compare.
    fn clear_dead(&mut self, place: Place, start: usize, state: &mut [u8]) {
        let Some(native) = self.config.native else {
            return;
        };
        let top = self.stack_top();
        let clear = |start: usize, state: &mut [u8]| {
            native.memory.clear_dead(start, &mut state[..top - start]);
        };
        clear(start, state);
        self.thread().life.visits.clear_raw_states(place, clear);
    }

    /// Counts a visit of the running thread. After many visits without a sure effect, the place is
    /// a spin loop.
    #[cold]
    #[inline(never)]
    fn counts_round(&mut self, code: usize) {
        if self.thread().life.visits.counts_round_without_effect(code) {
            self.meet_spin(code);
        }
    }

    /// Returns whether threads return to this place without an effect.
    #[inline(always)]
    fn is_loop(&self, code: usize) -> bool {
        self.names.has_loops() && self.names.is_loop(code as u64)
    }

    /// Records a visit of the running thread without allocating memory, if it is the first visit
    /// since the thread's last effect and no other checks are necessary. Returns whether the visit
    /// was recorded.
    #[inline(always)]
    pub(super) fn visits(&mut self, code: usize) -> bool {
        match self.names.has_loops() {
            true => self.visits_outside_loops(code),
            false => self.thread().life.visits.visits(code),
        }
    }

    #[inline(never)]
    fn visits_outside_loops(&mut self, code: usize) -> bool {
        !self.is_loop(code) && self.thread().life.visits.visits(code)
    }

    /// Makes hooks wipe the stack below them from now on. Executions so far have compared the
    /// remains of hooks, too.
    pub(crate) fn wipe_stacks(&mut self) {
        if !self.names.has_wiped_stacks() {
            self.names.wipe_stacks();
            self.coarsen(Restart::WipedStacks);
        }
    }

    /// Makes the place a spin loop. Executions so far did not compare memory here.
    #[cold]
    fn meet_spin(&mut self, code: usize) {
        self.meet_loop(code);
        if !self.config.without.contains(&Shortcut::AwaitRule) {
            self.names.meet_spin(code as u64);
        }
    }

    /// Makes the place a loop. Executions so far did not compare states here.
    #[cold]
    fn meet_loop(&mut self, code: usize) {
        if self.config.without.contains(&Shortcut::AwaitRule) {
            return;
        }
        self.names.meet_loop(code as u64);
        self.watch.reads = true;
        self.coarsen(Restart::Loop);
    }
}
