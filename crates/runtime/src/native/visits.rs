//! Records the visits of places by a thread of a native program, and finds out whether the thread
//! has returned to a place. The header of `places` explains the terms.

use super::unrolling::Rounds;
use crate::engine::life::life;
use crate::watch::await_rule::round::{Round, Visit, mark_of};
use crate::watch::seen::Seen;
use rustc_hash::FxHashMap;

/// After more rounds without a sure effect than this, a place counts as a spin loop.
const MANY_ROUNDS: u32 = 8;

/// The maximum number of stacks for which the visits of lock-taking places are counted.
const MOST_STACKS: usize = 64;

/// Once this many visits since the last effect are kept, a new state of a spin loop replaces the
/// last state of the same place.
const MOST_VISITS: usize = 64;

life! {
    /// The part of the record for the await rule at places.
    pub(crate) struct AtPlaces {
        /// The number of sure effects so far: all effects except plain writes, which may write an
        /// unchanged value.
        sure_effects: u32,
        /// For each place, the number of visits since the last sure effect, and the value of
        /// `sure_effects` during these visits. Visits are counted only after the thread has
        /// performed many operations.
        rounds_without_effect: FxHashMap<usize, (u32, u32)>,
        /// Digests of the thread's stack at places that take locks, with numbers of visits. The most
        /// frequent stacks are kept (Misra and Gries, Sci. Comput. Program. 2, 1982). Visits are
        /// counted only after the thread has performed many operations.
        locks: Vec<(u64, u32)>,
        /// If the thread has returned to a place, the index in `seen` of its first observation
        /// after the last earlier visit that was recorded.
        pub(crate) comes_back_to: Option<usize>,
        /// The rounds of the thread's loops, if there is a bound on rounds (`--unroll`).
        pub(super) rounds: Rounds,
    }
}

/// A place in the code that a thread passes.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) code: usize,
    /// Whether the place is a loop: threads return to it without an effect.
    pub(super) is_loop: bool,
    /// Whether the place is a spin loop: threads return to it in the same state, or many times
    /// without a sure effect.
    pub(super) is_spin: bool,
    /// Whether the operation at the place is an event.
    pub(super) is_event: bool,
}

impl AtPlaces {
    /// Records an effect that is not a plain write.
    #[inline(always)]
    pub(crate) fn take_sure_effect(&mut self) {
        self.sure_effects = self.sure_effects.wrapping_add(1);
    }

    /// Counts a visit of the place `code`. Returns whether the thread has visited it many times
    /// since its last sure effect.
    pub(super) fn counts_round_without_effect(&mut self, code: usize) -> bool {
        let now = self.sure_effects;
        let (rounds, effects) = self.rounds_without_effect.entry(code).or_insert((0, now));
        if *effects != now {
            (*rounds, *effects) = (0, now);
        }
        *rounds += 1;
        *rounds > MANY_ROUNDS
    }

    /// Counts a visit of a place that takes a lock, with this digest of the stack. Returns whether
    /// the thread has visited it many times with this stack.
    pub(super) fn counts_lock(&mut self, stack: u64) -> bool {
        if let Some((_, visits)) = self.locks.iter_mut().find(|(known, _)| *known == stack) {
            *visits += 1;
            return *visits > MANY_ROUNDS;
        }
        if self.locks.len() == MOST_STACKS {
            self.locks.retain_mut(|(_, visits)| {
                *visits -= 1;
                *visits > 0
            });
        } else {
            self.locks.push((stack, 1));
        }
        false
    }
}

/// The number of counted plain reads at which the first recorded series begins. It is also the
/// minimum length of a series.
const PLAIN_READS: u32 = 64;

impl Round {
    /// Returns whether the visit is left out if the thread's next plain read is not an event. A
    /// loop of such reads waits for nothing, because other threads do not run meanwhile. It only
    /// has to stop if it never ends, and for this it suffices to record the visits of a series of
    /// reads now and then: after 64, 128, 256, … reads since the thread's last effect and its last
    /// read that was an event. This must not depend on what earlier executions have shown, or
    /// repetitions of an execution would differ.
    #[inline(always)]
    pub(super) fn leaves_out_plain_read(&self) -> bool {
        let reads = self.plain_reads.saturating_add(1);
        let begin = 1 << reads.ilog2();
        begin < PLAIN_READS || reads - begin >= PLAIN_READS.max(begin / 16)
    }

    /// Counts a plain read that is not an event.
    #[inline(always)]
    pub(super) fn counts_plain_read(&mut self) {
        self.plain_reads = self.plain_reads.saturating_add(1);
    }

    /// Records that the thread reaches a read that is an event. Loops through this read are found
    /// there, so the visits by plain reads are forgotten.
    #[inline(always)]
    pub(super) fn reaches_event(&mut self) {
        self.plain_reads = 0;
        if self.has_plain_visits {
            self.forget_plain_visits();
        }
    }

    #[cold]
    fn forget_plain_visits(&mut self) {
        self.has_plain_visits = false;
        for index in (0..self.visits.len()).rev() {
            if self.visits[index].is_plain {
                self.forget(index);
            }
        }
    }

    /// Records an observation. Returns whether it is a retry: it is about the same object as the
    /// thread's first observation after the last earlier visit of this place that was recorded.
    pub(crate) fn learn(&mut self, seen: Seen) -> bool {
        let before = self.at_places.comes_back_to.take();
        let before = before.and_then(|start| self.seen.get(start));
        let is_retry = before.is_some_and(|before| before.is_about_the_same(seen));
        self.seen.push(seen);
        is_retry
    }

    /// Records a visit on the fast path. This is possible only if the visit is the first of its
    /// place and there is room. Returns false if the caller must take the slow path.
    #[inline(always)]
    pub(super) fn passes_simply(&mut self, code: usize, is_event: bool) -> bool {
        // The fast path is also impossible in two other cases. If other threads have written to the
        // stack (`foreign`), forgetting may free memory, which must not happen while code of the
        // program runs. If changes of memory matter (`is_watched`), memory has to be compared.
        if !self.foreign.is_known() || self.is_watched() {
            return false;
        }
        self.forget_before_effect();
        self.visits.len() < self.visits.capacity() && self.passes_first(code, is_event)
    }

    /// Records a visit, after `forget_before_effect`, of a place that is not known as a loop.
    /// Returns false if the thread has returned there without an effect.
    #[inline(always)]
    pub(super) fn passes_first(&mut self, code: usize, is_event: bool) -> bool {
        let is_first = !self.knows(code);
        self.at_places.comes_back_to = None;
        if is_first {
            self.visits.push(Visit {
                place: code,
                seen: self.seen.len() as u32,
                is_plain: !is_event,
                ..Visit::default()
            });
            self.has_plain_visits |= !is_event;
        }
        is_first
    }

    /// Handles a visit, after `forget_before_effect`, of a place that is known as a loop. Returns
    /// the index of an earlier visit in the same state. If there is none, returns `None`, and
    /// records the visit. At a place without an event, only visits 1, 2, 4, … are recorded. The
    /// others are only counted. If the state is raw (its dead parts are not cleared), `raw` is the
    /// start of its stack. Only the first state of a place may be raw. If the visit is recorded,
    /// `state` gets an old buffer in exchange.
    pub(super) fn returns_to(
        &mut self,
        place: Place,
        raw: Option<usize>,
        state: &mut Vec<u8>,
    ) -> Option<usize> {
        let mark = raw.map_or_else(|| place.mark_of(state), |start| start as u64);
        let same = self.find(place.code, mark, state);
        if same.is_some() {
            return same;
        }
        self.is_watched |= place.is_spin;
        let visits = &self.visits;
        let last = self.find_last(place.code);
        let comes_back_to = last.map(|last| visits[last].seen as usize);
        // Several states of a place are kept only for events in spin loops. Elsewhere, one state is
        // kept. At places without an event, it is the state at visit 1, 2, 4, …, so that a loop
        // through several states is found (Brent, BIT 20, 1980). At an event that is not in a known
        // spin loop, it is the last state. There, `counts_round` finds a loop through several
        // states.
        let has_room = place.is_spin && place.is_event && visits.len() < MOST_VISITS;
        let index = last.filter(|_| !has_room).unwrap_or(visits.len());
        self.at_places.comes_back_to = comes_back_to;
        let rounds = last.map_or(0, |last| visits[last].rounds) + 1;
        if let Some(last) = last.filter(|_| !place.is_event && !rounds.is_power_of_two()) {
            self.visits[last].rounds = rounds;
            return None;
        }
        let visit = Visit {
            place: place.code,
            mark,
            rounds,
            released: self.effects.released().len() as u32,
            is_plain: !place.is_event,
            is_raw: raw.is_some(),
            ..Visit::default()
        };
        self.has_plain_visits |= !place.is_event;
        std::mem::swap(self.keep(index, visit), state);
        None
    }

    /// Clears dead parts of raw states of this place. `clear` receives the stack's start and the
    /// state.
    pub(super) fn clear_raw_states(&mut self, place: Place, clear: impl Fn(usize, &mut [u8])) {
        for (visit, state) in self.visits.iter_mut().zip(&mut self.states) {
            if visit.place == place.code && std::mem::take(&mut visit.is_raw) {
                clear(visit.mark as usize, state);
                visit.mark = place.mark_of(state);
            }
        }
    }
}

impl Place {
    /// Returns the mark of a state. Several states of a place are kept only for events in spin
    /// loops. So only spin loops need a digest.
    fn mark_of(self, state: &[u8]) -> u64 {
        match self.is_spin {
            true => mark_of(state),
            false => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::life::Life;
    use explore::{ObjectId, ValueId};

    const PLACE: Place = Place {
        code: 7,
        is_loop: true,
        is_spin: true,
        is_event: true,
    };

    /// Visits one place repeatedly, and reads the next of these objects each time. Returns for each
    /// visit whether it is a retry.
    fn retries(read: &[u32]) -> Vec<bool> {
        let mut round = Round::default();
        round.begin();
        let rounds = read.iter().enumerate();
        let retries = rounds.map(|(index, &object)| {
            let mut state = vec![u8::try_from(index).unwrap()];
            round.forget_before_effect();
            round.returns_to(PLACE, None, &mut state);
            round.learn(Seen::Value(ObjectId(object), ValueId::default()))
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
        let mut round = Round::default();
        round.begin();
        let results = [1_u8, 2, 3, 1].map(|state| {
            round.forget_before_effect();
            round.learn(Seen::Locked(u32::from(state)));
            round.returns_to(PLACE, None, &mut vec![state])
        });
        assert_eq!(results, [None, None, None, Some(0)]);
        assert_eq!(round.visits[0].seen, 1);
        round.take_effect();
        round.forget_before_effect();
        assert_eq!(round.returns_to(PLACE, None, &mut vec![1]), None);
    }
}
