//! The await rule for machine code: a thread that comes back to a place that reads, and finds everything that it can
//! still read as it left it there, goes round in vain. It stops there: what it reads may change only by others, and the
//! executions in which it reads later are explored anyway.
//!
//! What the thread can read is its registers and its stack, what its front-end keeps for it (`errno`, random numbers, …),
//! and memory. The first two are kept at each visit of a place to which a thread is known to come back. When one is met for
//! the first time, the exploration starts again. Memory is shared with others, so each change of it is an effect,
//! after which nothing is known: `segment` finds changes by comparing values. A write of the value that is there
//! already is none. It remains a write for the search.
//!
//! Before the thread has come to one of those places, hooks tell of writes to memory, and each counts as an effect. A loop that writes what is
//! there already is noticed by the number of its rounds.
//!
//! Comparing memory costs more than the rest. So a place at which threads come back begins as a *loop*, where registers and
//! stack are kept. It becomes a *spin loop* when a thread is found there with the state of an earlier visit, or by the number of
//! its rounds without a sure effect. Only spin loops have memory compared, and only there a thread stops. The exploration
//! starts again each time that one is met.
//!
//! Frames of the program have bytes that it has not written, as calls left them that were there before. What hooks leave
//! would make the rule depend on how the checker was compiled. So hooks wipe the stack behind them, from the first time that
//! a thread reads or tries again what it has read or tried; loops over many things never end by this rule.

use super::unrolling::Rounds;
use crate::await_rule::Seen;
use crate::engine::Engine;
use explore::{Bound, Halt};
use report::Shortcut;
use rustc_hash::{FxHashMap, FxHasher};
use std::collections::BTreeMap;
use std::hash::Hasher;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

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

/// Addresses and values that the program gives to a hook: it may have them nowhere else. None if not all of them are known:
/// then what the program does not read any more may have been made of them.
pub(crate) type Given = Option<[u128; 3]>;

/// Set by calls that the program makes to functions whose effects nobody knows: the thread that runs has had one.
pub static HAS_CALLED_UNKNOWN: AtomicBool = AtomicBool::new(false);

/// A thread that has performed as many operations in one execution may be in a loop whose writes change nothing.
const MANY_OPERATIONS: u32 = 32;

/// It is in one when it has come by one place as often.
const MANY_ROUNDS: u32 = 8;

/// So many visits of spin loops since the last effect are told apart.
const MOST_VISITS: usize = 64;

/// The places that read which a thread came by since its last effect.
#[derive(Default)]
pub(crate) struct Laps {
    visits: Vec<Visit>,
    /// Registers, stack and the like at each visit, where threads come back without an effect. Others are kept for their
    /// memory.
    states: Vec<Vec<u8>>,
    /// Whether the thread has changed anything since.
    has_effect: bool,
    /// Its effects so far, without plain writes: those may write what is there already.
    sure_effects: u32,
    /// How often it came by each place since its last sure effect, and how many of these there were. Counted where it has
    /// performed many operations.
    rounds_without_effect: FxHashMap<usize, (u32, u32)>,
    /// Whether it has come to a place since to which threads come back. Then its writes count by what they change.
    is_watched: bool,
    /// What it learnt since.
    learnt: Vec<Seen>,
    /// It came back to a place: where in `learnt` that is what it read there before.
    comes_back_to: Option<usize>,
    /// The rounds of its loops, where they have a bound.
    pub(super) rounds: Rounds,
    /// What was on its stack before other threads wrote there, since its last effect.
    pub(super) foreign: BTreeMap<usize, u8>,
    /// Where other threads wrote there, since its last effect.
    pub(super) written_by_others: Vec<Range<usize>>,
}

/// A thread came by a place.
#[derive(Clone, Copy)]
struct Visit {
    code: usize,
    /// What had been learnt before.
    learnt: u32,
    /// What is dead in its state has not been cleared.
    is_raw: bool,
    /// The mark of the state that is kept, or where its stack begins if it is raw; 0 if none is kept.
    mark: u64,
}

/// A place in the code by which a thread comes.
#[derive(Clone, Copy)]
struct Place {
    code: usize,
    /// Threads come back to it without an effect.
    is_loop: bool,
    /// They come back to it with the same state.
    is_spin: bool,
    /// What it does is an event.
    is_event: bool,
}

impl Laps {
    /// The thread begins its life.
    pub(crate) fn begin(&mut self) {
        self.has_effect = true;
        self.learnt.clear();
        self.rounds.clear();
        self.rounds_without_effect.clear();
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
        self.sure_effects = self.sure_effects.wrapping_add(1);
    }

    /// The thread writes to memory, perhaps what is there already.
    #[inline(always)]
    pub(crate) fn write_plainly(&mut self) {
        self.has_effect = true;
    }

    /// Whether changes of memory are found by comparing it.
    #[inline(always)]
    pub(super) fn is_watched(&self) -> bool {
        self.is_watched && !self.has_effect
    }

    /// Becomes like the other.
    #[inline]
    pub(crate) fn copy(&mut self, other: &Laps) {
        self.has_effect = other.has_effect;
        self.sure_effects = other.sure_effects;
        if !self.rounds_without_effect.is_empty() || !other.rounds_without_effect.is_empty() {
            self.rounds_without_effect
                .clone_from(&other.rounds_without_effect);
        }
        self.is_watched = other.is_watched;
        // Who had an effect last has nothing to come back to.
        if !other.has_effect {
            self.visits.clear();
            // There are few, for which a call costs more than a loop.
            other
                .visits
                .iter()
                .for_each(|&visit| self.visits.push(visit));
            for (index, visit) in other.visits.iter().enumerate() {
                if visit.mark != 0 {
                    let kept = self.room_for_state(index);
                    kept.clear();
                    kept.extend_from_slice(&other.states[index]);
                }
            }
            if !self.learnt.is_empty() || !other.learnt.is_empty() {
                self.learnt.clone_from(&other.learnt);
            }
        }
        self.comes_back_to = other.comes_back_to;
        if !self.rounds.is_empty() || !other.rounds.is_empty() {
            self.rounds.clone_from(&other.rounds);
        }
        if !self.written_by_others.is_empty() || !other.written_by_others.is_empty() {
            self.foreign.clone_from(&other.foreign);
            self.written_by_others.clone_from(&other.written_by_others);
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
    /// It came back with the same state, where that is not known to happen.
    IsSpin,
    /// In vain; it learnt this since.
    Vain(usize),
    TooMany,
}

/// Bytes of the stacks that are compared; in larger ones no spin loop is found.
const LARGEST_STACK: usize = 1 << 20;

impl Engine {
    /// The thread that runs comes by a place that reads. True if it stops there.
    ///
    /// # Safety
    ///
    /// The frame is at the top of the program's part of the stack of the thread that runs.
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
            if is_event && self.thread().operations >= MANY_OPERATIONS {
                self.counts_round(code);
            }
            return false;
        }
        // SAFETY: as promised by the caller.
        unsafe { self.stops_in_round(frame, is_event, given) }
    }

    /// # Safety
    ///
    /// As for [`Engine::stops_by`].
    #[inline(never)]
    unsafe fn stops_in_round(&mut self, frame: *const Frame, is_event: bool, given: Given) -> bool {
        // SAFETY: as promised by the caller.
        let code = unsafe { (*frame).code };
        let unroll = self.config.native.and_then(|native| native.unroll);
        // A recursion comes by deeper each time; copies of its stack would take all memory.
        if unroll.is_none() && self.stack_top() - frame.addr() > LARGEST_STACK {
            return false;
        }
        // All threads know at once what one of them met, or an execution would depend on those before.
        let place = Place {
            code,
            is_loop: self.is_loop(code),
            is_spin: self.names.is_spin(code as u64),
            is_event,
        };
        if is_event && !place.is_spin && self.thread().operations >= MANY_OPERATIONS {
            self.counts_round(code);
        }
        // A suspended thread's changes have been noted. The others are noted here, so that switches make no difference.
        self.note_changes();
        self.thread().laps.forget_before_effect();
        // What was compared before its last effect is of no use any more.
        if !self.thread().laps.is_watched() {
            self.native.segment.forget();
        }
        let mut state = std::mem::take(&mut self.native.state);
        state.clear();
        let mut raw = None;
        if place.is_loop {
            // SAFETY: as promised by the caller.
            unsafe { self.copy_state(frame, given, &mut state) };
            raw = given.map(|_| frame.addr());
            if let Some(start) = raw.take_if(|_| self.thread().laps.knows(code)) {
                self.clear_dead(place, start, &mut state);
            }
        }
        let is_cut = unroll.is_some_and(|most| {
            let length = self.stack_top() - frame.addr();
            // SAFETY: the stack from the frame to its top is initialised as far as a comparison goes, and nothing
            // writes to it meanwhile.
            let stack = unsafe { std::slice::from_raw_parts(frame.cast::<u8>(), length) };
            self.thread().laps.rounds.count(code, stack, most)
        });
        let mut lap = match is_cut {
            true => Lap::TooMany,
            false => self.thread().laps.come_by(place, raw, &mut state),
        };
        if matches!(lap, Lap::Vain(_)) && !self.native.segment.is_known() {
            let laps = &mut self.thread().laps;
            laps.take_effect();
            laps.forget_before_effect();
            lap = laps.come_by(place, raw, &mut state);
        }
        self.native.state = state;
        match lap {
            Lap::GoesOn => false,
            Lap::IsLoop => {
                self.meet_loop(code);
                false
            }
            Lap::IsSpin => {
                self.meet_spin(code);
                false
            }
            Lap::Vain(start) => {
                self.wipe_stacks();
                let learnt = self.learnt_since(start);
                self.thread().round.learnt(&learnt);
                self.halt(Halt::Await);
                true
            }
            Lap::TooMany => {
                self.halt(Halt::Bound(Bound::Unroll));
                true
            }
        }
    }

    /// What the thread that runs has learnt in its round, without what it alone has written to its own stack, read there,
    /// and overwritten: the next round does the same.
    fn learnt_since(&self, start: usize) -> Vec<Seen> {
        let laps = &self.threads[self.running.index()].laps;
        let is_own = |seen: Seen| {
            let Seen::Memory {
                address, length, ..
            } = seen
            else {
                return false;
            };
            let is_foreign =
                |range: &Range<usize>| range.start < address + length && address < range.end;
            self.owner_of_stack(address) == Some(self.running)
                && !laps.written_by_others.iter().any(is_foreign)
        };
        let learnt = laps.learnt[start..].iter().copied();
        learnt
            .filter(|&seen| !is_own(seen) || self.is_still(seen))
            .collect()
    }

    /// What the thread that runs has for itself: registers and its stack, as far as it knows them and may read them, what it
    /// gave to the hook, and what its front-end keeps for it.
    ///
    /// # Safety
    ///
    /// As for [`Engine::stops_by`].
    unsafe fn copy_state(&mut self, frame: *const Frame, given: Given, state: &mut Vec<u8>) {
        let start = frame.addr();
        let length = self.stack_top() - start;
        // SAFETY: the stack from the frame to its top is initialised as far as a comparison goes, and nobody writes to it
        // meanwhile.
        state.extend_from_slice(unsafe { std::slice::from_raw_parts(frame.cast(), length) });
        self.thread().laps.as_known(start, state);
        if let Some(native) = self.config.native {
            if let Some(given) = given {
                state.extend_from_slice(given.map(u128::to_ne_bytes).as_flattened());
            }
            native.memory.tell(self.running, state);
        }
    }

    /// Clears what is dead in the state of a thread that has come back to a place, and in that of its first visit. Before
    /// that there is nothing to compare.
    fn clear_dead(&mut self, place: Place, start: usize, state: &mut [u8]) {
        let Some(native) = self.config.native else {
            return;
        };
        let top = self.stack_top();
        let clear = |start: usize, state: &mut [u8]| {
            native.memory.clear_dead(start, &mut state[..top - start]);
        };
        clear(start, state);
        let laps = &mut self.thread().laps;
        for (visit, state) in laps.visits.iter_mut().zip(&mut laps.states) {
            if visit.code == place.code && std::mem::take(&mut visit.is_raw) {
                clear(visit.mark as usize, state);
                visit.mark = mark_of(place, state);
            }
        }
    }

    /// The thread that runs comes by a place. If it does so again and again without a sure effect, it may spin there.
    #[cold]
    #[inline(never)]
    fn counts_round(&mut self, code: usize) {
        if self.thread().laps.counts_round_without_effect(code) {
            self.meet_spin(code);
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

    /// From now on hooks wipe the stack behind them. The executions so far have compared what hooks left, too.
    pub(crate) fn wipe_stacks(&mut self) {
        if !self.names.has_wiped_stacks() {
            self.names.wipe_stacks();
            self.is_coarsened = true;
        }
    }

    /// The executions so far did not compare memory here.
    #[cold]
    fn meet_spin(&mut self, code: usize) {
        self.meet_loop(code);
        if !self.config.without.contains(&Shortcut::AwaitRule) {
            self.names.meet_spin(code as u64);
        }
    }

    /// The executions so far did not compare states here.
    #[cold]
    fn meet_loop(&mut self, code: usize) {
        if self.config.without.contains(&Shortcut::AwaitRule) {
            return;
        }
        self.names.meet_loop(code as u64);
        self.watch.reads = true;
        self.is_coarsened = true;
    }
}

impl Laps {
    /// Nothing is known from before its last effect. Its state is raw if its stack begins at `raw`: then there is no visit of this place yet.
    fn come_by(&mut self, place: Place, raw: Option<usize>, state: &mut Vec<u8>) -> Lap {
        let code = place.code;
        let mut visits = self.visits.iter().enumerate();
        let last = visits.rfind(|(_, visit)| visit.code == code);
        let last = last.map(|(index, _)| index);
        let learnt = self.learnt.len() as u32;
        if !place.is_loop {
            self.comes_back_to = None;
            if last.is_some() {
                return Lap::IsLoop;
            }
            self.visits.push(Visit {
                code,
                learnt,
                is_raw: false,
                mark: 0,
            });
            return Lap::GoesOn;
        }
        let mark = raw.map_or_else(|| mark_of(place, state), |start| start as u64);
        let is_same = |(index, visit): &(usize, &Visit)| {
            visit.code == code && visit.mark == mark && self.states[*index] == *state
        };
        if let Some((_, visit)) = self.visits.iter().enumerate().find(is_same) {
            return match place.is_spin {
                true => Lap::Vain(visit.learnt as usize),
                false => Lap::IsSpin,
            };
        }
        self.is_watched |= place.is_spin;
        self.comes_back_to = last.map(|last| self.visits[last].learnt as usize);
        let visit = Visit {
            code,
            learnt,
            is_raw: raw.is_some(),
            mark,
        };
        // Elsewhere a loop of several states is found by the number of its rounds.
        let has_room = place.is_spin && place.is_event && self.visits.len() < MOST_VISITS;
        let index = match last.filter(|_| !has_room) {
            Some(last) => {
                self.visits[last] = visit;
                last
            }
            None => {
                self.visits.push(visit);
                self.visits.len() - 1
            }
        };
        std::mem::swap(self.room_for_state(index), state);
        Lap::GoesOn
    }

    #[inline(always)]
    fn forget_before_effect(&mut self) {
        if self.has_effect | HAS_CALLED_UNKNOWN.load(Relaxed) {
            HAS_CALLED_UNKNOWN.store(false, Relaxed);
            self.has_effect = false;
            self.is_watched = false;
            self.visits.clear();
            self.learnt.clear();
            self.forget_foreign();
            self.comes_back_to = None;
        }
    }

    /// Mostly there is nothing.
    #[inline(always)]
    fn forget_foreign(&mut self) {
        if !self.written_by_others.is_empty() {
            self.forget_what_is_foreign();
        }
    }

    #[cold]
    #[inline(never)]
    fn forget_what_is_foreign(&mut self) {
        self.foreign.clear();
        self.written_by_others.clear();
    }

    /// Notes a visit if it is the first one and there is room.
    #[inline(always)]
    fn visits(&mut self, code: usize) -> bool {
        // To forget it is to give memory back, which is not done while the program's code runs. Memory has to be compared.
        if !self.foreign.is_empty() || self.is_watched() {
            return false;
        }
        self.forget_before_effect();
        if self.knows(code) || self.visits.len() == self.visits.capacity() {
            return false;
        }
        let learnt = self.learnt.len() as u32;
        self.visits.push(Visit {
            code,
            learnt,
            is_raw: false,
            mark: 0,
        });
        self.comes_back_to = None;
        true
    }

    /// Whether the thread has come by a place.
    #[inline(always)]
    fn knows(&self, code: usize) -> bool {
        self.visits.iter().any(|visit| visit.code == code)
    }

    fn room_for_state(&mut self, visit: usize) -> &mut Vec<u8> {
        if self.states.len() <= visit {
            self.states.resize_with(visit + 1, Vec::new);
        }
        &mut self.states[visit]
    }

    /// Whether the thread has come by the place often since its last sure effect.
    fn counts_round_without_effect(&mut self, code: usize) -> bool {
        let now = self.sure_effects;
        let (rounds, effects) = self.rounds_without_effect.entry(code).or_insert((0, now));
        if *effects != now {
            (*rounds, *effects) = (0, now);
        }
        *rounds += 1;
        *rounds > MANY_ROUNDS
    }
}

/// Not 0. In a spin loop, of which many states are kept, a digest of the registers and the innermost frame, in which most of
/// them differ.
fn mark_of(place: Place, state: &[u8]) -> u64 {
    const INNERMOST: usize = 160;
    if !place.is_spin {
        return 1;
    }
    let mut hasher = FxHasher::default();
    hasher.write(&state[..state.len().min(INNERMOST)]);
    hasher.finish() | 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use explore::{ObjectId, Token};

    const PLACE: Place = Place {
        code: 7,
        is_loop: true,
        is_spin: true,
        is_event: true,
    };

    /// What the thread learns at each visit of one place: whether it is told to have tried again.
    fn retries(read: &[u32]) -> Vec<bool> {
        let mut laps = Laps::default();
        laps.begin();
        let visits = read.iter().enumerate();
        let told = visits.map(|(round, &object)| {
            let mut state = vec![u8::try_from(round).unwrap()];
            laps.forget_before_effect();
            laps.come_by(PLACE, None, &mut state);
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

    #[test]
    fn a_state_that_was_left_some_visits_ago_is_known() {
        let mut laps = Laps::default();
        laps.begin();
        let visits = [1_u8, 2, 3, 1].map(|state| {
            laps.forget_before_effect();
            laps.learn(Seen::Locked(u32::from(state)));
            laps.come_by(PLACE, None, &mut vec![state])
        });
        assert!(matches!(
            visits,
            [Lap::GoesOn, Lap::GoesOn, Lap::GoesOn, Lap::Vain(1)]
        ));
        laps.take_effect();
        laps.forget_before_effect();
        assert!(matches!(
            laps.come_by(PLACE, None, &mut vec![1]),
            Lap::GoesOn
        ));
    }
}
