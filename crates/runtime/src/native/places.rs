//! The [await rule](crate::watch::await_rule) in machine code, which has no spin hints. A *place*
//! is an address in the program's code that calls a hook. A thread makes no progress if it returns
//! to a place that reads, and everything that the thread can still read is unchanged since an
//! earlier visit.
//!
//! A thread can read its registers and stack, its data in the front-end (`errno`, random numbers,
//! …), and shared memory. All but the shared memory is saved at each visit of a place to which
//! threads are known to return (`visits`). Each change of shared memory is an *effect*, which
//! counts as progress (`memory_changes`). A write of the value that is already there is not an
//! effect, but the search still treats it as a write.
//!
//! Comparing shared memory costs more than the rest. So a place to which a thread returns without
//! an effect is first a *loop*, where only registers and stack are saved. It becomes a *spin loop*
//! when a thread returns to it in the state of an earlier visit, or after many rounds without a
//! *sure effect* (an effect other than a plain write). Memory is compared only for spin loops, and
//! threads stop only there. The exploration starts again each time that a loop or spin loop is
//! found.
//!
//! A place may also take a lock. Taking the lock is an effect until the thread releases it. But in
//! most programs no loop depends on this, and tracking locks costs time. So a lock counts as a sure
//! effect at first. Once a thread has come to the same lock many times with the same stack, it may
//! be polling a variable under this lock. From then on, locks are tracked
//! ([`undone`](crate::watch::undone)).
//!
//! Until a thread reaches a spin loop, each plain write counts as an effect, even if it changes
//! nothing. So a loop whose writes change nothing is found by counting its rounds.
//!
//! Frames of the program contain bytes that earlier calls left behind. If some of these bytes came
//! from hooks, the result of a comparison would depend on how the checker was compiled. So hooks
//! wipe the stack below their frames once a thread has repeated a read or a try at one place, and
//! in a few other cases (see the callers of `wipe_stacks`). Until a thread repeats a read or a try,
//! wiping is unnecessary: the await rule does not stop a loop that reads a different object in each
//! round.

use super::visits::Place;
use crate::engine::Engine;
use crate::engine::control_words::ControlWords;
use crate::engine::names::MOST_COMPARED;
use crate::engine::own_stack::LINK;
use crate::watch::seen::Seen;
use explore::{Bound, Halt};
use report::{Restart, Shortcut};
use rustc_hash::FxHasher;
use std::hash::Hasher;
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

/// Arguments of a hook. They belong to the thread's state, because the program may have no other
/// copy of them.
#[derive(Clone, Copy)]
pub(crate) enum Given {
    /// All arguments of the hook.
    All([u128; 3]),
    /// Some arguments. The others are unknown, and may derive from values that are dead by now, so
    /// dead values are compared, too.
    Part([u128; 3]),
}

/// Whether the running thread has called a function with unknown effects, and the await rule has
/// not taken this into account yet.
pub static HAS_CALLED_UNKNOWN: AtomicBool = AtomicBool::new(false);

/// The number of operations in one execution after which a thread may be in a loop whose writes
/// change nothing.
const MANY_OPERATIONS: u32 = 32;

impl Engine {
    /// Records that the running thread passes a place that reads. `is_event` tells whether the read
    /// is an event. Returns whether the thread stops there.
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
        let is_simple = self.guests.native.is_simple;
        let round = &mut self.thread().life.guests.round;
        if is_event {
            round.reaches_event();
        } else if is_simple {
            let is_left_out = round.leaves_out_plain_read();
            round.counts_plain_read();
            if is_left_out {
                return false;
            }
        }
        if is_simple && self.visits(code, is_event) {
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
        // SAFETY: as promised by the caller.
        let stack = unsafe { self.stack_from(frame.addr()) };
        // A recursive function passes the place with an ever larger stack, and copies of that stack
        // would fill all memory.
        if unroll.is_none() && !(1..=MOST_COMPARED).contains(&stack.len()) {
            return false;
        }
        // A newly found loop counts for all threads at once, so that the result of an execution
        // does not depend on earlier executions.
        let place = Place {
            code,
            is_loop: self.is_loop(code),
            is_spin: self.names.is_spin(code as u64),
            is_event,
        };
        if place.is_loop {
            self.compares_stack(stack.len());
        }
        if is_event && !place.is_spin && self.thread().life.operations >= MANY_OPERATIONS {
            self.counts_round(code);
        }
        // A thread's changes are recorded when it is suspended. Record them here as well, so that
        // the result does not depend on whether the thread is suspended here.
        self.record_changes();
        self.thread().life.guests.round.forget_before_effect();
        // A copy of memory from before the thread's last effect is useless.
        if !self.thread().life.guests.round.is_watched() {
            self.guests.segment.forget();
        }
        if let Some(most) = unroll {
            let depth = self.depth_of(frame);
            let rounds = &mut self.thread().life.guests.round.at_places.rounds;
            if rounds.count(code, depth, stack, most) {
                self.halt(Halt::Bound(Bound::Unroll));
                return true;
            }
        }
        if stack.is_empty() {
            return false;
        }
        if !place.is_loop {
            if !self.thread().life.guests.round.passes_first(code, is_event) {
                self.mark_loop(code);
            }
            return false;
        }
        let mut state = std::mem::take(&mut self.guests.native.state);
        state.clear();
        self.copy_state(stack, given, &mut state);
        let mut raw = matches!(given, Given::All(_)).then(|| frame.addr());
        if let Some(start) = raw.take_if(|_| self.thread().life.guests.round.knows(code)) {
            self.clear_dead(place, start, &mut state);
        }
        let is_known = self.guests.segment.is_known();
        let round = &mut self.thread().life.guests.round;
        let mut same = round.returns_to(place, raw, &mut state);
        if same.is_some() && place.is_spin && !is_known {
            // The shared memory at the beginning of this segment was not copied, so it may have
            // changed.
            round.take_effect();
            round.forget_before_effect();
            same = round.returns_to(place, raw, &mut state);
        }
        self.guests.native.state = state;
        match same {
            None => false,
            Some(_) if !place.is_spin => {
                self.mark_spin(code);
                false
            }
            Some(visit) => {
                self.wipe_stacks();
                let live = frame.addr() + size_of::<Frame>();
                let seen = self.seen_since(visit, live);
                let round = &mut self.thread().life.guests.round;
                let earlier = round.visits[visit].released as usize;
                round.effects.forget_releases(earlier);
                self.made_no_progress();
                let round = &mut self.thread().life.guests.round;
                let released = round.effects.replace_released(Vec::new());
                round.keep_seen(seen);
                round.effects.replace_released(released);
                self.halt(Halt::Await);
                true
            }
        }
    }

    /// Records that the running thread is about to wait for a lock. Returns whether the thread stops
    /// there.
    ///
    /// # Safety
    ///
    /// The conditions are those of [`Engine::stops_by`].
    pub(super) unsafe fn stops_by_lock(&mut self, frame: *const Frame) -> bool {
        // SAFETY: as promised by the caller.
        unsafe {
            if self.names.has_lock_polls() {
                return self.stops_by(frame, true, Given::Part([0; 3]));
            }
            self.counts_lock(frame);
        }
        self.take_effect();
        false
    }

    /// Counts how often the running thread has come to this lock with the same stack and registers.
    /// After many times, the thread may be polling a variable under the lock. A lock that is taken
    /// and released has been an effect so far, so the exploration starts again.
    ///
    /// # Safety
    ///
    /// The conditions are those of [`Engine::stops_by`].
    pub(super) unsafe fn counts_lock(&mut self, frame: *const Frame) {
        if self.thread().life.operations < MANY_OPERATIONS
            || self.names.has_lock_polls()
            || !self.finds_loops
            || self.config.without.contains(&Shortcut::AwaitRule)
        {
            return;
        }
        // SAFETY: as promised by the caller.
        let stack = unsafe { self.stack_from(frame.addr()) };
        if !(1..=MOST_COMPARED).contains(&stack.len()) {
            return;
        }
        let mut hasher = FxHasher::default();
        hasher.write(stack);
        let at_places = &mut self.thread().life.guests.round.at_places;
        if at_places.counts_lock(hasher.finish()) {
            self.names.record_lock_poll();
            self.watch.reads = true;
            self.coarsen(Restart::Loop);
        }
    }

    /// Records that this many bytes of the running thread's stack are compared. If this is more
    /// than before, up to a limit, the exploration starts again, because savepoints have restored
    /// less of the stack so far.
    fn compares_stack(&mut self, depth: usize) {
        let depth = depth + LINK;
        if depth <= MOST_COMPARED && depth > self.names.compared_depth(self.running) {
            self.names.compare_to_depth(self.running, depth);
            self.coarsen(Restart::DeepStacks);
        }
    }

    /// Returns the running thread's observations since an earlier visit, as far as other threads
    /// can change them. An observation of the thread's own stack counts if other threads have
    /// written there, or if the value is still the one that the thread has read. (A value that the
    /// thread has overwritten itself is overwritten again in the next round.) On its own stack,
    /// addresses below `live` never count: they belong to ended frames, which hooks overwrite.
    fn seen_since(&self, visit: usize, live: usize) -> Vec<Seen> {
        let round = &self.threads[self.running.index()].life.guests.round;
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
            let is_by_others = round.foreign.contains(address, length);
            address >= live && (is_by_others || self.is_still(*seen))
        };
        let seen = &round.seen[round.visits[visit].seen as usize..];
        seen.iter().copied().filter(can_change).collect()
    }

    /// Appends the private state of the running thread to `state`: registers and stack, the
    /// arguments of the hook, and the thread's data in the front-end. Bytes of the stack that other
    /// threads have written count with their old values (`foreign`).
    fn copy_state(&mut self, stack: &[u8], given: Given, state: &mut Vec<u8>) {
        state.extend_from_slice(stack);
        let foreign = &self.thread().life.guests.round.foreign;
        foreign.as_known(stack.as_ptr().addr(), state);
        if let Some(native) = self.config.native {
            let (Given::All(words) | Given::Part(words)) = given;
            state.extend_from_slice(words.map(u128::to_ne_bytes).as_flattened());
            state.extend_from_slice(&ControlWords::now().bytes());
            native.memory.append_state(self.running, state);
        }
    }

    /// Clears dead parts of the stack in the state of a thread that has returned to a place, and in
    /// the saved state of its first visit. The first visit itself does not clear dead parts,
    /// because there is nothing to compare yet.
    fn clear_dead(&mut self, place: Place, start: usize, state: &mut [u8]) {
        let Some(native) = self.config.native else {
            return;
        };
        let top = self.stack_top();
        let clear = |start: usize, state: &mut [u8]| {
            native.memory.clear_dead(start, &mut state[..top - start]);
        };
        clear(start, state);
        self.thread()
            .life
            .guests
            .round
            .clear_raw_states(place, clear);
    }

    /// Counts a visit of the place by the running thread. After many visits without a sure effect,
    /// the place becomes a spin loop.
    #[cold]
    #[inline(never)]
    fn counts_round(&mut self, code: usize) {
        let at_places = &mut self.thread().life.guests.round.at_places;
        if at_places.counts_round_without_effect(code) {
            self.mark_spin(code);
        }
    }

    /// Returns whether the place is a loop: a thread has returned to it without an effect, perhaps
    /// in an earlier execution.
    #[inline(always)]
    fn is_loop(&self, code: usize) -> bool {
        self.names.has_loops() && self.names.is_loop(code as u64)
    }

    /// Records a visit of the running thread without allocating memory, if it is the first visit of
    /// the place since the thread's last effect and no other checks are necessary. Returns whether
    /// the visit was recorded.
    #[inline(always)]
    fn visits(&mut self, code: usize, is_event: bool) -> bool {
        match self.names.has_loops() {
            true => self.visits_outside_loops(code, is_event),
            false => self
                .thread()
                .life
                .guests
                .round
                .passes_simply(code, is_event),
        }
    }

    /// Handles the visit of a plain read that is not an event. Most such visits are left out; the
    /// others are recorded as in [`Engine::visits`]. In both cases, counts the read and returns
    /// true. Returns false if the caller must take the slow path.
    #[inline(always)]
    pub(super) fn visits_plainly(&mut self, code: usize) -> bool {
        let is_left_out = self.thread().life.guests.round.leaves_out_plain_read();
        let has_passed = is_left_out || self.visits(code, false);
        if has_passed {
            self.thread().life.guests.round.counts_plain_read();
        }
        has_passed
    }

    #[inline(never)]
    fn visits_outside_loops(&mut self, code: usize, is_event: bool) -> bool {
        if self.is_loop(code) {
            return false;
        }
        let round = &mut self.thread().life.guests.round;
        round.passes_simply(code, is_event)
    }

    /// Makes hooks wipe the stack below them from the next execution on. If they have not done so
    /// yet, the exploration starts again, because executions so far have also compared bytes that
    /// hooks left behind.
    pub(crate) fn wipe_stacks(&mut self) {
        if !self.names.has_wiped_stacks() {
            self.names.wipe_stacks();
            self.coarsen(Restart::WipedStacks);
        }
    }

    /// Makes the place a spin loop. The exploration starts again, because no execution so far has
    /// compared memory here.
    #[cold]
    fn mark_spin(&mut self, code: usize) {
        self.mark_loop(code);
        if self.finds_loops && !self.config.without.contains(&Shortcut::AwaitRule) {
            self.names.record_spin(code as u64);
        }
    }

    /// Makes the place a loop, unless the await rule is switched off. The exploration starts again,
    /// because no execution so far has compared states here.
    #[cold]
    fn mark_loop(&mut self, code: usize) {
        if !self.finds_loops || self.config.without.contains(&Shortcut::AwaitRule) {
            return;
        }
        self.names.record_loop(code as u64);
        self.watch.reads = true;
        self.coarsen(Restart::Loop);
    }
}
