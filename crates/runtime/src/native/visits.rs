//! The places that a thread has visited since its last effect, with its states there.

use super::laps::HAS_CALLED_UNKNOWN;
use super::unrolling::Rounds;
use crate::seen::Seen;
use rustc_hash::{FxHashMap, FxHasher};
use std::collections::BTreeMap;
use std::hash::Hasher;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

/// It is in one when it has come by one place as often.
const MANY_ROUNDS: u32 = 8;

/// How many visits of spin loops since the last effect are kept.
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
    pub(super) learnt: Vec<Seen>,
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
pub(super) struct Place {
    pub(super) code: usize,
    /// Threads come back to it without an effect.
    pub(super) is_loop: bool,
    /// They come back to it with the same state.
    pub(super) is_spin: bool,
    /// What it does is an event.
    pub(super) is_event: bool,
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

    /// What the thread learnt last since its last effect.
    pub(super) fn last_learnt(&self) -> Option<Seen> {
        self.learnt.last().copied()
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

/// What a visit of a place means.
pub(super) enum Lap {
    GoesOn,
    /// It came back without an effect, where that is not known to happen.
    IsLoop,
    /// It came back with the same state, where that is not known to happen.
    IsSpin,
    /// The thread made no progress since an earlier visit; where what it has learnt since begins.
    Vain(usize),
    TooMany,
}

impl Laps {
    /// Nothing is known from before its last effect. Its state is raw if its stack begins at `raw`: then there is no visit of this place yet.
    pub(super) fn come_by(&mut self, place: Place, raw: Option<usize>, state: &mut Vec<u8>) -> Lap {
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
    pub(super) fn visits(&mut self, code: usize) -> bool {
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
    pub(super) fn knows(&self, code: usize) -> bool {
        self.visits.iter().any(|visit| visit.code == code)
    }

    fn room_for_state(&mut self, visit: usize) -> &mut Vec<u8> {
        if self.states.len() <= visit {
            self.states.resize_with(visit + 1, Vec::new);
        }
        &mut self.states[visit]
    }

    /// Clears what is dead in states of this place where that has not been done: `clear` gets where the stack begins, and
    /// the state.
    pub(super) fn clear_raw_states(&mut self, place: Place, clear: impl Fn(usize, &mut [u8])) {
        for (visit, state) in self.visits.iter_mut().zip(&mut self.states) {
            if visit.code == place.code && std::mem::take(&mut visit.is_raw) {
                clear(visit.mark as usize, state);
                visit.mark = mark_of(place, state);
            }
        }
    }

    /// Whether the thread has come by the place often since its last sure effect.
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

    /// For each visit of one place, where the thread reads this object: whether that counts as a retry.
    fn retries(read: &[u32]) -> Vec<bool> {
        let mut laps = Laps::default();
        laps.begin();
        let visits = read.iter().enumerate();
        let retries = visits.map(|(round, &object)| {
            let mut state = vec![u8::try_from(round).unwrap()];
            laps.forget_before_effect();
            laps.come_by(PLACE, None, &mut state);
            laps.learn(Seen::Value(ObjectId(object), Token::default()))
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
