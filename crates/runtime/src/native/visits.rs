//! The places that a thread has visited since its last effect, with its states there.

use super::await_rule::HAS_CALLED_UNKNOWN;
use super::unrolling::Rounds;
use crate::engine::life::Life;
use crate::watch::seen::Seen;
use rustc_hash::{FxHashMap, FxHasher};
use std::collections::BTreeMap;
use std::hash::Hasher;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

/// The number of times that a thread may pass one place before it counts as being in a loop.
const MANY_ROUNDS: u32 = 8;

/// The maximum number of visits of spin loops that are kept since the last effect.
const MOST_VISITS: usize = 64;

/// The reading places that a thread has passed since its last effect.
#[derive(Default)]
pub(crate) struct Visits {
    visits: Vec<Visit>,
    /// The registers, stack and similar state at each visit of a place to which threads return
    /// without an effect. Other entries are kept to reuse their memory.
    states: Vec<Vec<u8>>,
    /// Whether the thread has had an effect since the last visit.
    has_effect: bool,
    /// The number of effects so far without plain writes, which may write an unchanged value.
    sure_effects: u32,
    /// For each place, the number of visits since the last sure effect, and the value of
    /// `sure_effects` then. Visits are counted once the thread has performed many operations.
    rounds_without_effect: FxHashMap<usize, (u32, u32)>,
    /// Whether the thread reached a spin loop since its last effect. If so, only writes that change
    /// memory count.
    is_watched: bool,
    /// The thread's observations since its last effect.
    pub(super) learnt: Vec<Seen>,
    /// If the thread returned to a place, the index in `learnt` of its earlier observations there.
    comes_back_to: Option<usize>,
    /// The rounds of the thread's loops, if these have a bound.
    pub(super) rounds: Rounds,
    /// Old values of the bytes on the thread's stack that other threads have written since its last
    /// effect.
    pub(super) foreign: BTreeMap<usize, u8>,
    /// The ranges of the thread's stack that other threads have written since its last effect.
    pub(super) written_by_others: Vec<Range<usize>>,
}

/// One visit of a place by a thread.
#[derive(Clone, Copy)]
struct Visit {
    code: usize,
    /// The number of observations made before the visit.
    learnt: u32,
    /// Whether the dead parts of the kept state have not been cleared yet.
    is_raw: bool,
    /// The mark of the kept state, the start of its stack if it is raw, or 0 if no state is kept.
    mark: u64,
}

/// A place in the code that a thread passes.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) code: usize,
    /// Whether threads return to the place without an effect.
    pub(super) is_loop: bool,
    /// Whether threads return to the place in the same state.
    pub(super) is_spin: bool,
    /// Whether the operation at the place is an event.
    pub(super) is_event: bool,
}

impl Life for Visits {
    fn new() -> Visits {
        Visits::default()
    }

    fn begin(&mut self) {
        self.has_effect = true;
        self.learnt.clear();
        self.rounds.clear();
        self.rounds_without_effect.clear();
        self.forget_foreign();
        self.comes_back_to = None;
    }

    #[inline]
    fn copy(&mut self, other: &Visits) {
        self.has_effect = other.has_effect;
        self.sure_effects = other.sure_effects;
        if !self.rounds_without_effect.is_empty() || !other.rounds_without_effect.is_empty() {
            self.rounds_without_effect
                .clone_from(&other.rounds_without_effect);
        }
        self.is_watched = other.is_watched;
        // After an effect, there is no earlier visit to return to.
        if !other.has_effect {
            self.visits.clear();
            // There are few visits, so a loop costs less than a call.
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
}

impl Visits {
    /// Returns whether nothing has been recorded since the last effect.
    #[inline(always)]
    pub(super) fn is_beginning(&self) -> bool {
        self.has_effect
    }

    /// Records a write to the thread's own stack, which is compared on a return to a place.
    #[inline(always)]
    pub(crate) fn write_own(&mut self, address: usize, length: usize) {
        if !self.foreign.is_empty() {
            self.overwrite(address, length);
        }
    }

    /// Records that the thread has changed something.
    #[inline(always)]
    pub(crate) fn take_effect(&mut self) {
        self.has_effect = true;
        self.sure_effects = self.sure_effects.wrapping_add(1);
    }

    /// Records a write to memory, possibly of the value that is already there.
    #[inline(always)]
    pub(crate) fn write_plainly(&mut self) {
        self.has_effect = true;
    }

    /// Returns whether changes of memory are found by comparison.
    #[inline(always)]
    pub(super) fn is_watched(&self) -> bool {
        self.is_watched && !self.has_effect
    }

    /// Returns the thread's last observation since its last effect.
    pub(super) fn last_learnt(&self) -> Option<Seen> {
        self.learnt.last().copied()
    }

    /// Records an observation. Returns whether it repeats an observation of the same object at the
    /// same place.
    pub(crate) fn learn(&mut self, seen: Seen) -> bool {
        let before = self.comes_back_to.take();
        let before = before.and_then(|start| self.learnt.get(start));
        let is_retry = before.is_some_and(|before| before.is_about_the_same(seen));
        self.learnt.push(seen);
        is_retry
    }
}

/// The meaning of a visit of a place.
pub(super) enum RoundResult {
    Changed,
    /// The thread returned without an effect to a place that is not known as a loop.
    IsLoop,
    /// The thread returned in the same state to a place that is not known as a spin loop.
    IsSpin,
    /// The thread made no progress since an earlier visit. The index is that of the first
    /// observation since then.
    NoProgress(usize),
    TooMany,
}

impl Visits {
    /// Records a visit, after `forget_before_effect`. `raw` is the start of the stack in a raw
    /// state, which must be the first state of its place. `state` receives another buffer in
    /// exchange.
    pub(super) fn record_visit(
        &mut self,
        place: Place,
        raw: Option<usize>,
        state: &mut Vec<u8>,
    ) -> RoundResult {
        let code = place.code;
        let mut visits = self.visits.iter().enumerate();
        let last = visits.rfind(|(_, visit)| visit.code == code);
        let last = last.map(|(index, _)| index);
        let learnt = self.learnt.len() as u32;
        if !place.is_loop {
            self.comes_back_to = None;
            if last.is_some() {
                return RoundResult::IsLoop;
            }
            self.visits.push(Visit {
                code,
                learnt,
                is_raw: false,
                mark: 0,
            });
            return RoundResult::Changed;
        }
        let mark = raw.map_or_else(|| mark_of(place, state), |start| start as u64);
        let is_same = |(index, visit): &(usize, &Visit)| {
            visit.code == code && visit.mark == mark && self.states[*index] == *state
        };
        if let Some((_, visit)) = self.visits.iter().enumerate().find(is_same) {
            return match place.is_spin {
                true => RoundResult::NoProgress(visit.learnt as usize),
                false => RoundResult::IsSpin,
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
        // Several states of a place are kept only for events in spin loops. Elsewhere, loops
        // through several states are found by counting rounds.
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
        RoundResult::Changed
    }

    #[inline(always)]
    pub(super) fn forget_before_effect(&mut self) {
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

    /// Forgets the writes of other threads. Usually there are none.
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

    /// Records a visit if it is the first of its place and there is room. Returns whether the visit
    /// was recorded.
    #[inline(always)]
    pub(super) fn visits(&mut self, code: usize) -> bool {
        // Clearing `foreign` frees memory, which must not happen while code of the program runs. A
        // watched thread needs a comparison of memory.
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

    /// Returns whether the thread has visited a place.
    #[inline(always)]
    pub(super) fn knows(&self, code: usize) -> bool {
        self.visits.iter().any(|visit| visit.code == code)
    }

    fn room_for_state(&mut self, visit: usize) -> &mut Vec<u8> {
        if self.states.len() <= visit {
            self.states.resize_with(visit + 1, Vec::new);
        }
        &mut self.states[visit]
    }

    /// Clears dead parts of raw states of this place. `clear` receives the stack's start and the
    /// state.
    pub(super) fn clear_raw_states(&mut self, place: Place, clear: impl Fn(usize, &mut [u8])) {
        for (visit, state) in self.visits.iter_mut().zip(&mut self.states) {
            if visit.code == place.code && std::mem::take(&mut visit.is_raw) {
                clear(visit.mark as usize, state);
                visit.mark = mark_of(place, state);
            }
        }
    }

    /// Counts a round. Returns whether there were many rounds since the thread's last sure effect.
    pub(super) fn counts_round_without_effect(&mut self, code: usize) -> bool {
        let now = self.sure_effects;
        let (rounds, effects) = self.rounds_without_effect.entry(code).or_insert((0, now));
        if *effects != now {
            (*rounds, *effects) = (0, now);
        }
        *rounds += 1;
        *rounds > MANY_ROUNDS
    }
}

/// Returns the mark of a state, which is not 0. In a spin loop, where many states are kept, the
/// mark is a digest of the registers and the innermost frame, in which most states differ.
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
    use explore::{ObjectId, ValueId};

    const PLACE: Place = Place {
        code: 7,
        is_loop: true,
        is_spin: true,
        is_event: true,
    };

    /// Returns for each visit of one place, with a read of the object, whether it is a retry.
    fn retries(read: &[u32]) -> Vec<bool> {
        let mut visits = Visits::default();
        visits.begin();
        let rounds = read.iter().enumerate();
        let retries = rounds.map(|(round, &object)| {
            let mut state = vec![u8::try_from(round).unwrap()];
            visits.forget_before_effect();
            visits.record_visit(PLACE, None, &mut state);
            visits.learn(Seen::Value(ObjectId(object), ValueId::default()))
        });
        retries.collect()
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
        let mut visits = Visits::default();
        visits.begin();
        let results = [1_u8, 2, 3, 1].map(|state| {
            visits.forget_before_effect();
            visits.learn(Seen::Locked(u32::from(state)));
            visits.record_visit(PLACE, None, &mut vec![state])
        });
        assert!(matches!(
            results,
            [
                RoundResult::Changed,
                RoundResult::Changed,
                RoundResult::Changed,
                RoundResult::NoProgress(1)
            ]
        ));
        visits.take_effect();
        visits.forget_before_effect();
        assert!(matches!(
            visits.record_visit(PLACE, None, &mut vec![1]),
            RoundResult::Changed
        ));
    }
}
